import { isRecord } from "@durable-payments/client/values";
import { Schema } from "effect";
import { HttpServerResponse } from "effect/http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";

const milliseconds = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0));

/**
 * Behaviour that the service's documentation leaves open. A field that is missing means the documented
 * behaviour; `{}` is the default.
 */
export const Temperament = Schema.Struct({
  /** For how long lists do not show a new row. */
  listLagMs: Schema.optionalKey(milliseconds),
  /** How far the service's clock is ahead, below zero behind: in times, range filters, the `Date` header. */
  clockOffsetMs: Schema.optionalKey(Schema.Finite),
  /** Amounts in responses: 3500.00, 3,500.00, 3500, 3500.0000, or the JSON number 3500. */
  amounts: Schema.optionalKey(
    Schema.Literals(["plain", "grouped", "short", "four-digits", "number"]),
  ),
  /** Whether a payout shows the caller's key, one of the service's own, or none. */
  payoutKeys: Schema.optionalKey(Schema.Literals(["echoed", "replaced", "dropped"])),
  /** Content coding of responses, if the request accepts it. */
  coding: Schema.optionalKey(Schema.Literals(["gzip", "br", "deflate"])),
  /** The most requests of one second; any other is answered 429, with the next second as the date of `Retry-After`. */
  requestsPerSecond: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
  /**
   * Payouts that come back `afterMs` after they have completed, with a `status` such as `returned`; default `reversed`. The
   * share of them is above 0, up to 1: the same payouts for the same reasons, references and amounts.
   */
  returns: Schema.optionalKey(
    Schema.Struct({
      share: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
      afterMs: milliseconds,
      status: Schema.optionalKey(Schema.NonEmptyString),
    }),
  ),
  /**
   * From `afterMs` after it was set, for `forMs`, every request gets 503, or its connection is
   * `reset`. Nothing takes effect; the control endpoint stays reachable.
   */
  outage: Schema.optionalKey(
    Schema.Struct({
      kind: Schema.Literals(["reset", "503"]),
      afterMs: milliseconds,
      forMs: milliseconds,
    }),
  ),
});

/** Behaviour that the service's documentation leaves open. */
export type Temperament = typeof Temperament.Type;

const AMOUNT_FIELD = /(^|_)(amount|balance)$/;

const FORMS = {
  plain: (amount: string) => amount,
  grouped: (amount: string) => amount.replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ","),
  short: (amount: string) => amount.replace(/\.?0+$/, ""),
  "four-digits": (amount: string) =>
    amount.replace(/(?:\.(\d*))?$/, (_, digits = "") => `.${String(digits).padEnd(4, "0")}`),
  number: Number,
};

/** The JSON of a response under a temperament: amounts in its form. */
export const writeJson = (json: unknown, { amounts = "plain" }: Temperament): unknown => {
  const written = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) return value.map((item: unknown) => written(item, ""));
    if (isRecord(value)) {
      const fields = Object.entries(value).map(([field, one]) => [field, written(one, field)]);
      return Object.fromEntries(fields);
    }
    return typeof value === "string" && value !== "" && AMOUNT_FIELD.test(name)
      ? FORMS[amounts](value)
      : value;
  };
  return written(json, "");
};

const COMPRESS = { br: brotliCompressSync, deflate: deflateSync, gzip: gzipSync } as const;

/** A response on the wire, in the temperament's content coding if the request accepts that. */
export const writeAnswer = (
  json: unknown,
  { headers, status }: HttpServerResponse.HttpServerResponse,
  {
    accepted = "",
    coding,
  }: { accepted: string | undefined; coding: Temperament["coding"] | undefined },
): HttpServerResponse.HttpServerResponse => {
  const bytes = Buffer.from(JSON.stringify(json));
  const names = accepted.split(",").map((entry) => entry.split(";")[0]?.trim());
  const isCoded = coding !== undefined && names.includes(coding);
  const { "content-length": _, "content-type": __, ...others } = headers;
  return HttpServerResponse.uint8Array(isCoded ? COMPRESS[coding](bytes) : bytes, {
    status,
    contentType: "application/json",
    headers: { ...others, ...(isCoded ? { "content-encoding": coding } : {}) },
  });
};
