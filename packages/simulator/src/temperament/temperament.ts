import { Schema } from "effect";

/** A share from 0 to 1. */
const share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }));

const milliseconds = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0));

/** Whose age decides whether a new row is missing: see `listLagBy`. */
export const LIST_LAGS = ["list", "row", "page"] as const;

/** How times are written. */
export const TIME_NOTATIONS = [
  "utc",
  "offset",
  "local",
  "local-blank",
  "date",
  "seconds",
  "milliseconds",
] as const;

/** What lists do to the texts of their rows. */
export const TEXT_FORMS = ["as-given", "upper", "trimmed", "squeezed", "nfkc", "all"] as const;

/** How amounts are written: 3500.00, 3,500.00, 3500, 3500.0, 3500.0000, and the JSON number 3500. */
export const AMOUNT_FORMS = [
  "plain",
  "grouped",
  "short",
  "one-digit",
  "four-digits",
  "number",
] as const;

/** What an answer shows for the caller's key of a payout. */
export const KEY_FORMS = ["echoed", "replaced", "dropped"] as const;

/** What the answer of a creation or withdrawal carries beside its ids. */
export const WRITE_ANSWERS = ["documented", "ids", "nulls", "odd"] as const;

/** What an odd row of a list is. */
export const ODD_ROWS = [
  "nulls",
  "nulls-but-status",
  "odd",
  "odd-but-status",
  "no-id",
  "null",
  "text",
] as const;

/** How refusals are written. */
export const REFUSALS = ["envelope", "plain-400", "plain-422", "in-200"] as const;

/** Content codings of answers, where the request accepts them. */
export const CODINGS = ["identity", "gzip", "br", "deflate"] as const;

/** What happens to requests in an outage. */
export const OUTAGES = ["refused", "reset", "503"] as const;

/**
 * How the service shows what it knows, where its document leaves it open. A field that is absent
 * means today's documented behaviour; `{}` is the default. The ledger stays the same under every
 * temperament, apart from `reversals`. {@link TEMPERAMENTS} describes each field.
 */
export const Temperament = Schema.Struct({
  listLagMs: Schema.optionalKey(milliseconds),
  listLagBy: Schema.optionalKey(Schema.Literals(LIST_LAGS)),
  oldestFirst: Schema.optionalKey(Schema.Boolean),
  shiftingPages: Schema.optionalKey(share),
  omittedRows: Schema.optionalKey(share),
  omittedRowsCounted: Schema.optionalKey(Schema.Boolean),
  duplicateRows: Schema.optionalKey(share),
  oddRows: Schema.optionalKey(share),
  oddRowForm: Schema.optionalKey(Schema.Literals(ODD_ROWS)),
  totals: Schema.optionalKey(Schema.Literals(["number", "text", "missing"])),
  nullLists: Schema.optionalKey(share),
  clockOffsetMs: Schema.optionalKey(Schema.Finite),
  times: Schema.optionalKey(Schema.Literals(TIME_NOTATIONS)),
  zoneMinutes: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: -840, maximum: 840 })),
  ),
  unsetTime: Schema.optionalKey(Schema.NullOr(Schema.Union([Schema.String, Schema.Finite]))),
  texts: Schema.optionalKey(Schema.Literals(TEXT_FORMS)),
  amounts: Schema.optionalKey(Schema.Literals(AMOUNT_FORMS)),
  payoutKeys: Schema.optionalKey(Schema.Literals(KEY_FORMS)),
  writeAnswers: Schema.optionalKey(Schema.Literals(WRITE_ANSWERS)),
  statuses: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  reversals: Schema.optionalKey(Schema.Struct({ share, afterMs: milliseconds })),
  refusals: Schema.optionalKey(Schema.Literals(REFUSALS)),
  successMessage: Schema.optionalKey(Schema.String),
  idleTokenMs: Schema.optionalKey(milliseconds),
  tokenMs: Schema.optionalKey(milliseconds),
  coding: Schema.optionalKey(Schema.Literals(CODINGS)),
  outage: Schema.optionalKey(
    Schema.Struct({
      kind: Schema.Literals(OUTAGES),
      afterMs: milliseconds,
      forMs: milliseconds,
    }),
  ),
  stalls: Schema.optionalKey(share),
});

/** How the service shows what it knows, where its document leaves it open. */
export type Temperament = typeof Temperament.Type;
