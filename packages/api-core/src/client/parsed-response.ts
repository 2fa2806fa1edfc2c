import type { Assumptions } from "../contract/assumptions.ts";
import { OutcomeUnknown, type PaymentsError, Unavailable, UnexpectedAnswer } from "./errors.ts";
import type { Operation } from "./operations.ts";
import { redact, type RequestValues } from "./redact.ts";
import type { NoResponse } from "./no-response.ts";

/** The token was not accepted; sign in again. */
export interface TokenRejected {
  readonly _tag: "TokenRejected";
  readonly reason: string;
  /** Whether it may have been carried out: a gateway may say so of the answer of what it has forwarded. */
  readonly isInDoubt: boolean;
  /** What the answer means if it was not the token: set where its words alone speak of one. */
  readonly otherwise: Failed | undefined;
}

/** A failed exchange, and whether the request may be sent again. */
export interface Failed {
  readonly _tag: "Failed";
  readonly error: PaymentsError;
  /**
   * - `always`: certainly not carried out, and it may go better later.
   * - `ifIdempotent`: perhaps carried out: only what may be repeated at all.
   * - `never`: the same request would be answered the same.
   */
  readonly retry: "always" | "ifIdempotent" | "never";
  /** How long the service asks to wait before, in milliseconds. */
  readonly waitMs: number | undefined;
}

/** A success; `ignored` are wire names of fields that could not be read and are absent in `value`. */
interface Succeeded<A> {
  readonly _tag: "Success";
  readonly value: A;
  readonly ignored: ReadonlyArray<string>;
}

/** The result of one exchange. */
export type ParsedResponse<A> = Succeeded<A> | Failed | TokenRejected;

/** What a response is parsed with. */
export interface ResponseContext {
  readonly operation: Operation;
  readonly assumptions: Assumptions;
  /** Fields of the request, by the contract's names: what its answer repeats must not be another. */
  readonly sent: Readonly<Record<string, unknown>>;
  /** Values of the request that must not be repeated in a message. */
  readonly hidden: RequestValues;
  /** Ids of the request, which must stay readable in a message. */
  readonly ids: ReadonlyArray<string>;
  /** Whether the request may have been sent before, by this call or by an earlier one. */
  readonly isResend: boolean;
  /** Whether the request carried a `unique_request_id`. */
  readonly isKeyed: boolean;
}

/** A failed exchange; see {@link Failed}. */
export const failed = (error: PaymentsError, retry: Failed["retry"], waitMs?: number): Failed => ({
  _tag: "Failed",
  error,
  retry,
  waitMs,
});

/** The longest value of a request, each character percent-encoded: what is left of one that was cut is not known. */
const LONGEST_VALUE = 3 * 255;

/**
 * Text of an answer, masked before it is cut, so that no cut lets half an account number through.
 *
 * @param isCut whether the text itself was cut out of a longer one
 */
export const shown = (
  text: string,
  { hidden, ids }: Pick<ResponseContext, "hidden" | "ids">,
  most: number,
  isCut = false,
): string => {
  const room = 2 * most + LONGEST_VALUE;
  if (text.length <= room && !isCut) return redact(text, hidden, ids).slice(0, most);
  const masked = redact(text.slice(0, room), hidden, ids);
  return masked.slice(0, Math.min(most, Math.max(0, masked.length - LONGEST_VALUE)));
};

/** A read changes nothing, so that nothing is in doubt. */
const inDoubt = (operation: Operation): "no" | "unknown" =>
  operation.idempotency === "safe" ? "no" : "unknown";

/** Sent, and nobody knows what became of it. */
export const outcomeUnknown = (
  operation: Operation,
  what: string,
  {
    remedy,
    waitMs,
  }: { readonly remedy?: string | undefined; readonly waitMs?: number | undefined } = {},
): Failed =>
  failed(
    new OutcomeUnknown({
      operation: operation.name,
      carriedOut: inDoubt(operation),
      message: `${operation.name} was ${what}.${remedy === undefined ? "" : ` ${remedy}`}`,
    }),
    remedy === undefined ? "ifIdempotent" : "never",
    waitMs,
  );

/** Certainly not carried out. */
export const unavailable = (
  operation: Operation,
  what: string,
  retry: "always" | "never",
  {
    remedy = "Check PAYMENTS_BASE_URL and the network.",
    status,
    waitMs,
  }: {
    readonly remedy?: string | undefined;
    readonly status?: number;
    readonly waitMs?: number | undefined;
  } = {},
): Failed =>
  failed(
    new Unavailable({
      operation: operation.name,
      carriedOut: "no",
      message: `${operation.name} was ${what} ${remedy}`,
      ...(status !== undefined && { status }),
    }),
    retry,
    waitMs,
  );

const SHOWN_CHARACTERS = 2000;

/** An answer of another shape than documented; `body` is kept, masked and cut. */
export const unexpected = (
  context: ResponseContext,
  what: string,
  body: string,
  retry: Failed["retry"],
  contradicts?: ReadonlyArray<string>,
): Failed =>
  failed(
    new UnexpectedAnswer({
      operation: context.operation.name,
      carriedOut: inDoubt(context.operation),
      message: `${context.operation.name} was answered with ${what}.`,
      answer: shown(body, context, SHOWN_CHARACTERS),
      ...(contradicts !== undefined && { contradicts }),
    }),
    retry,
  );

/**
 * No whole answer: not carried out only where no byte left. What a person has to remedy first is not
 * sent again.
 */
export const parseNoResponse = (
  operation: Operation,
  { reason, remedy, sent }: NoResponse,
): Failed =>
  sent
    ? outcomeUnknown(operation, `sent, but ${reason}`, { remedy })
    : unavailable(operation, `not sent: ${reason}.`, remedy === undefined ? "always" : "never", {
        remedy,
      });
