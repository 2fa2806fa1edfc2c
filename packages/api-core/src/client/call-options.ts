import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type { Fault } from "../contract/faults.ts";
import { faultsOf, STRICT } from "../contract/rules.ts";
import { isAbortSignal, isRecord } from "../values.ts";
import { LONGEST_MS, MOST_ATTEMPTS, number, typed } from "./setting-checks.ts";
import { PRIORITIES } from "./send.ts";

/** Headers that the client sets, or that HTTP sets by the request, in lower case. */
const OWN_HEADERS = new Set(
  (
    "accept accept-encoding connection content-encoding content-length content-type expect host keep-alive " +
    "proxy-authorization te trailer transfer-encoding upgrade user-agent x-api-key x-auth-token x-client-id"
  ).split(" "),
);

const KEY_IS_A_FIELD =
  "the idempotency key of createCard and withdrawFromCard is their field unique_request_id, " +
  "and no other operation may be resent because of a key";

const headerFault = (name: string, value: unknown): string | undefined => {
  const lower = name.toLowerCase();
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return "is not a valid name for an HTTP header";
  if (OWN_HEADERS.has(lower)) return "is set by the client itself";
  if (/^(x[-_]?)?idempotency[-_]?key$/.test(lower)) {
    return `is not read by the service: ${KEY_IS_A_FIELD}`;
  }
  return typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
    ? undefined
    : "must be a string that is valid in a header";
};

/** Not `Headers` or a `Map`, whose entries are not properties. */
const isHeaders = (value: unknown): value is Readonly<Record<string, string>> =>
  isRecord(value) && !(Symbol.iterator in value);

const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";

const listFields = {
  /**
   * Longest time of the whole call in milliseconds, with sign-in, waits and every send; of a stream, that
   * of each page. The time of `BeforeSend` is not counted. By default each request has the client's
   * `requestTimeoutMs`, and the call as many of them as `maxAttempts` allows.
   */
  timeoutMs: Schema.optional(number(1, LONGEST_MS)),
  /**
   * Most sends of this call, the first and that after a new sign-in included, instead of the client's
   * `maxAttempts`. With 1, a token that is rejected ends the call as `NotAuthenticated`, and the next call
   * signs in again. A write that may have taken effect is sent again only as its class permits, whatever
   * this says.
   */
  maxAttempts: Schema.optional(number(1, MOST_ATTEMPTS)),
  /**
   * Further HTTP headers of each send of this call, such as `traceparent`. Headers that the client sets
   * itself are refused, and so is `idempotency-key`, however it is spelled, which the service does not read.
   */
  headers: Schema.optional(
    typed("an object of header names and strings", isHeaders).check(
      Schema.makeFilter((headers: Readonly<Record<string, string>>) =>
        Object.entries(headers).flatMap(([name, value]) => {
          const issue = headerFault(name, value);
          return issue === undefined ? [] : [{ path: [name], issue }];
        }),
      ),
    ),
  ),
  /**
   * Which calls go first when the account's rate or connections are scarce: `first`, `normal` or `last`. By default writes
   * are `first` and reads `normal`.
   */
  priority: Schema.optional(Schema.Literals(PRIORITIES)),
};

const callFields = {
  ...listFields,
  /**
   * Whether an earlier call may have sent the same request with the same `unique_request_id`: then
   * a refusal that speaks of a known key leaves the outcome unknown. Default false.
   */
  isResend: Schema.optional(typed("true or false", isBoolean)),
};

const signalField = {
  /**
   * Ends a call, or a stream, that is under way, in a wait between sends too. A write that may have been sent
   * rejects with `OutcomeUnknown`, whose `cause` is the signal's reason; everything else with that reason.
   */
  signal: Schema.optional(typed("an AbortSignal", isAbortSignal)),
};

const streamFields = { ...listFields, ...signalField };
const promiseFields = { ...callFields, ...signalField };

/** Options of a stream of the client for Effect. */
export interface ListOptions extends Schema.Struct.Type<typeof listFields> {}

/** Options of one call of the client for Effect, in addition to its input. */
export interface RequestOptions extends Schema.Struct.Type<typeof callFields> {}

/** Options of a stream of the promise client. */
export interface StreamOptions extends Schema.Struct.Type<typeof streamFields> {}

/** Options of one call of the promise client, in addition to its input. */
export interface CallOptions extends Schema.Struct.Type<typeof promiseFields> {}

const schemas = {
  effect: Schema.Struct(callFields),
  promise: Schema.Struct(promiseFields),
  stream: Schema.Struct(streamFields),
};

/** The caller: an operation of the client for Effect, one of the promise client, or a stream of that. */
export type Caller = keyof typeof schemas;

/** An answer with the response that it came in. */
export interface WithResponse<Data> {
  /** The answer itself, as without `withResponse`. */
  readonly data: Data;
  /** The HTTP status of the last response of the call. */
  readonly status: number;
  /**
   * Its headers by their names in lower case. Values of those that carry secrets, such as `set-cookie`,
   * are `[redacted]`.
   */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Checks the options of a call.
 *
 * @returns every fault, by the name of its option
 */
export const optionFaults = (options: unknown, caller: Caller): ReadonlyArray<Fault> => {
  if (!isRecord(options)) return [{ field: "options", problem: "must be an object of options" }];
  // Without options, as most calls are.
  if (Object.keys(options).length === 0) return [];
  const decoded = Schema.decodeUnknownResult(schemas[caller], STRICT)(options);
  if (Result.isSuccess(decoded)) return [];
  return faultsOf(decoded.failure.issue).map(({ field, problem }) => ({
    field: `options.${field}`,
    problem: field === "idempotencyKey" ? `is not an option: ${KEY_IS_A_FIELD}` : problem,
  }));
};
