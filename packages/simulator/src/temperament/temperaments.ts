import {
  AMOUNT_FORMS,
  CODINGS,
  KEY_FORMS,
  LIST_LAGS,
  ODD_ROWS,
  OUTAGES,
  REFUSALS,
  type Temperament,
  TEXT_FORMS,
  TIME_NOTATIONS,
  WRITE_ANSWERS,
} from "./temperament.ts";

/** Numbers from 0, included, to 1, excluded. */
type RandomNumbers = () => number;

const between = (minimum: number, maximum: number) => (random: RandomNumbers) =>
  Math.round(minimum + random() * (maximum - minimum));

const shareUpTo = (maximum: number) => (random: RandomNumbers) =>
  Math.round(random() * maximum * 1000) / 1000;

const oneOf =
  <const Value>(values: ReadonlyArray<Value>) =>
  (random: RandomNumbers): Value =>
    // The index lies within the values.
    values[Math.floor(random() * values.length)] as Value;

const MINUTE = 60_000;

/** Ways to write a completion time that has not come; null is JSON's, `missing` leaves the field out. */
const UNSET_TIMES = [
  "0001-01-01T00:00:00Z",
  "0000-12-31T19:03:58-04:56",
  "1970-01-01T00:00:00Z",
  "0000-00-00 00:00:00",
  "0",
  0,
  "-",
  "",
  null,
  "missing",
] as const;

/** A field of {@link Temperament}: what it does, and a value of it from random numbers. */
export type TemperamentField<Name extends keyof Temperament> = {
  /** What the field does and what its values mean. */
  readonly description: string;
  /** A value that a service which keeps its documented promises may show. */
  readonly draw: (random: RandomNumbers) => Exclude<Temperament[Name], undefined>;
};

/** Every field of a temperament. Each is drawn for itself and goes with every value of the others. */
export const TEMPERAMENTS: {
  readonly [Name in keyof Temperament]-?: TemperamentField<Name>;
} = {
  listLagMs: {
    description: "For how long lists do not show a new row: 0 to 30000 milliseconds",
    draw: between(0, 30_000),
  },
  listLagBy: {
    description:
      "list: every row for the whole of listLagMs; row: each row for a different part; page: each page number for a different part",
    draw: oneOf(LIST_LAGS),
  },
  oldestFirst: { description: "Lists begin with the oldest row", draw: oneOf([true, false]) },
  shiftingPages: {
    description:
      "Share of the requests for a second or later page before which a row of an earlier page went away, or came",
    draw: shareUpTo(0.2),
  },
  omittedRows: {
    description: "Share of the list requests whose page lacks one of its rows",
    draw: shareUpTo(0.1),
  },
  omittedRowsCounted: {
    description:
      "Whether total_item counts the omitted row (true); no client can notice one that is not counted, so that false is never drawn",
    draw: () => true,
  },
  duplicateRows: {
    description: "Share of the list requests in which one row is listed and counted twice",
    draw: shareUpTo(0.1),
  },
  oddRows: {
    description:
      "Share of the rows of lists, always the same ones, that are odd as oddRowForm says",
    draw: shareUpTo(0.02),
  },
  oddRowForm: {
    description:
      "nulls: all but the id is null; odd: all but the id has another JSON type; nulls-but-status, odd-but-status: all but the id and the status; no-id: the id is null; null: the row is null; text: the row is a text",
    draw: oneOf(ODD_ROWS),
  },
  totals: {
    description: "total_item and total_page as JSON numbers, as text, or missing",
    draw: oneOf(["number", "text", "missing"]),
  },
  nullLists: {
    description: "Share of the list requests whose item_list is null, whatever total_item says",
    draw: shareUpTo(0.1),
  },
  clockOffsetMs: {
    description:
      "Milliseconds that the service's clock is ahead, below zero behind: in the times that it writes, in its range filters and in the Date header",
    draw: between(-15 * MINUTE, 15 * MINUTE),
  },
  times: {
    description:
      "utc: 2026-05-31T10:00:00.000Z; offset: 2026-05-31T18:00:00+08:00; local: the same without offset; local-blank: 2026-05-31 18:00:00; date: 2026-05-31; seconds, milliseconds: JSON number since 1970",
    draw: oneOf(TIME_NOTATIONS),
  },
  zoneMinutes: {
    description: "Zone of times with or without offset and of dates, in minutes east of UTC",
    draw: oneOf([0, 480, -300, 330]),
  },
  unsetTime: {
    description:
      'A completion time that has not come, as JSON; "missing" leaves the field out: 0001-01-01T00:00:00Z by default',
    draw: oneOf(UNSET_TIMES),
  },
  texts: {
    description:
      "Texts in lists as they were given, in capitals, trimmed, with runs of blanks squeezed, in Unicode NFKC, or all of these",
    draw: oneOf(TEXT_FORMS),
  },
  amounts: {
    description:
      "plain: 3500.00; grouped: 3,500.00; short: 3500; one-digit: 3500.0; four-digits: 3500.0000; number: JSON number. Digits that count stay",
    draw: oneOf(AMOUNT_FORMS),
  },
  payoutKeys: {
    description:
      "unique_request_id of payouts: as it was sent, replaced by a key of the service's own, or dropped",
    draw: oneOf(KEY_FORMS),
  },
  writeAnswers: {
    description:
      "Answers of creations and withdrawals: documented; ids: nothing but the id; nulls: all but the id is null; odd: all but the id has another JSON type",
    draw: oneOf(WRITE_ANSWERS),
  },
  statuses: {
    description: "Shown statuses by true ones, in every answer, such as processing: in_review",
    draw: oneOf([
      {},
      { processing: "in_review" },
      { processing: "IN REVIEW", PENDING: "MANUAL_CHECK", pending: "queued" },
    ]),
  },
  reversals: {
    description:
      "Share of the completed payouts that turn to reversed, their money back in the balance, so long after they completed; the ledger says so, too",
    draw: (random) => ({ share: shareUpTo(0.1)(random), afterMs: between(500, 5000)(random) }),
  },
  refusals: {
    description:
      "Refusals as the documented envelope; as text without envelope under HTTP 400 or 422; as envelope under HTTP 200",
    draw: oneOf(REFUSALS),
  },
  successMessage: {
    description: 'message of a success: "Success" by default',
    draw: oneOf(["Success", "success", "OK", ""]),
  },
  idleTokenMs: {
    description: "A token ends after so long without a request, whatever its expiry says",
    draw: between(2000, 20_000),
  },
  tokenMs: {
    description: "A token ends after so long, and its expiry says so",
    draw: between(3000, 60_000),
  },
  coding: {
    description: "Content coding of answers where the request accepts it",
    draw: oneOf(CODINGS),
  },
  outage: {
    description:
      "From afterMs after this was set, for forMs: refused: nobody listens; reset: connections are closed without an answer; 503. Nothing is carried out; control stays reachable unless refused",
    draw: (random) => ({
      kind: oneOf(OUTAGES)(random),
      afterMs: between(0, 20_000)(random),
      forMs: between(5000, 4 * MINUTE)(random),
    }),
  },
  stalls: {
    description: "Share of the requests that are carried out and whose answer hangs in its half",
    draw: shareUpTo(0.03),
  },
};
