import type { Fault } from "../contract/rules.ts";
import { isRecord } from "../values.ts";
import { nearestName } from "./nearest-name.ts";

/** Options of one call, beside its input. */
export interface RequestOptions {
  /**
   * Longest time of the whole call in milliseconds, with sign-in, waits and every send; of a stream, that
   * of each page. What `BeforeSend` takes is not counted. By default each request has the client's
   * `requestTimeoutMs`, and the call as many of them as `maxAttempts` allows.
   */
  readonly timeoutMs?: number;
  /**
   * Most sends of this call, the first and that after a new sign-in included, instead of the client's
   * `maxAttempts`. With 1, a token that is rejected ends the call as `NotAuthenticated`, and the next call
   * signs in again. A write that may have been carried out is sent again only as its class permits, whatever
   * stands here.
   */
  readonly maxAttempts?: number;
  /**
   * Further HTTP headers of each send of this call, such as `traceparent`; none that the client sets
   * itself, and no `idempotency-key` or `x-idempotency-key`, which the service does not read.
   */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Options of one call of the promise client, beside its input. */
export interface CallOptions extends RequestOptions {
  /**
   * Ends a call, or a stream, that is under way, in a wait between sends too: it rejects with the
   * signal's reason, which does not say whether a write was carried out.
   */
  readonly signal?: AbortSignal;
  /**
   * Whether an earlier call may have sent the same request with the same `unique_request_id`: then
   * a refusal that speaks of a known key leaves the outcome unknown. Default false.
   */
  readonly isResend?: boolean;
}

/** An answer with what came around it on HTTP. */
export interface WithResponse<Data> {
  /** What the call answers without it. */
  readonly data: Data;
  /** The HTTP status of the last response of the call. */
  readonly status: number;
  /**
   * Its headers by their names in lower case. Values of those that carry secrets, such as `set-cookie`,
   * are `[redacted]`.
   */
  readonly headers: Readonly<Record<string, string>>;
}

/** Headers that the client sets, or that HTTP sets by the request; as they are on the wire, in lower case. */
const OWN_HEADERS = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
  "x-api-key",
  "x-auth-token",
  "x-client-id",
]);

const KEY_IS_A_FIELD =
  "the idempotency key of createCard and withdrawFromCard is their field unique_request_id, " +
  "and nothing else may be sent again because of a key";

const KEY_HEADER = /^(x-)?idempotency-key$/;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

const headerFault = (name: string, value: unknown): string | undefined => {
  const lower = name.toLowerCase();
  if (!HEADER_NAME.test(name)) return "is no name of an HTTP header";
  if (OWN_HEADERS.has(lower)) return "is set by the client itself";
  if (KEY_HEADER.test(lower)) return `is not read by the service: ${KEY_IS_A_FIELD}`;
  return typeof value === "string" && HEADER_VALUE.test(value)
    ? undefined
    : "must be a text that a header can carry";
};

/** No `Headers` and no `Map`, whose entries are no properties. */
const isPlainRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isRecord(value) && !(Symbol.iterator in value);

const headersFaults = (headers: unknown): ReadonlyArray<Fault> =>
  isPlainRecord(headers)
    ? Object.entries(headers).flatMap(([name, value]) => {
        const problem = headerFault(name, value);
        return problem === undefined ? [] : [{ field: `options.headers.${name}`, problem }];
      })
    : [{ field: "options.headers", problem: "must be an object of header names and texts" }];

/** What a timer of Node takes. */
const LONGEST_MS = 2 ** 31 - 1;
const MOST_ATTEMPTS = 100;

const wholeNumber = (most: number) => (value: unknown) =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most
    ? undefined
    : `must be a whole number from 1 to ${most}`;

/** What is wrong with a single option; of headers, with each of them. */
const problems: Readonly<
  Record<Exclude<keyof CallOptions, "headers">, (value: unknown) => string | undefined>
> = {
  timeoutMs: wholeNumber(LONGEST_MS),
  maxAttempts: wholeNumber(MOST_ATTEMPTS),
  // Of whatever realm: a test environment may have its own AbortSignal.
  signal: (value) =>
    typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value
      ? undefined
      : "must be an AbortSignal",
  isResend: (value) => (typeof value === "boolean" ? undefined : "must be true or false"),
};

/** The options that a call of the client for Effect takes. */
export const REQUEST_OPTIONS = ["timeoutMs", "maxAttempts", "headers"] as const;

/** The options that a stream of the promise client takes. */
export const STREAM_OPTIONS = [...REQUEST_OPTIONS, "signal"] as const;

/** The options that a call of the promise client takes. */
export const CALL_OPTIONS = [...STREAM_OPTIONS, "isResend"] as const;

/**
 * Check the options of a call.
 *
 * @param known the names that this kind of call takes
 * @returns every fault, by the name of its option; an option that is undefined is not given
 */
export const optionFaults = (
  options: unknown,
  known: ReadonlyArray<keyof CallOptions>,
): ReadonlyArray<Fault> => {
  if (!isRecord(options)) return [{ field: "options", problem: "must be an object of options" }];
  return Object.entries(options).flatMap(([name, value]): ReadonlyArray<Fault> => {
    if (value === undefined) return [];
    const field = `options.${name}`;
    const option = known.find((one) => one === name);
    if (option === "headers") return headersFaults(value);
    if (option !== undefined) {
      const problem = problems[option](value);
      return problem === undefined ? [] : [{ field, problem }];
    }
    if (name === "idempotencyKey") {
      return [{ field, problem: `is not an option: ${KEY_IS_A_FIELD}` }];
    }
    const like = nearestName(name, known);
    return [
      {
        field,
        problem: `is not an option of this call${like === undefined ? ` (it takes ${known.join(", ")})` : `: is it ${like}?`}`,
      },
    ];
  });
};
