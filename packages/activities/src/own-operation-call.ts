import {
  OutcomeUnknown,
  type PaymentsError,
  RateLimited,
  redact,
  Refused,
  Unavailable,
  UnexpectedAnswer,
} from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import { textAt } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import type { CallContext, Made, OwnOperation, SendContext } from "./own-operation.ts";
import { HEARTBEAT_EVERY_MS } from "./run-operation.ts";
import type { SendIntent } from "./send-intent.ts";

/** What an operation has made: by the name of the id's field, as the journal and histories have it. */
export interface OwnResult {
  /** What was made, by its id. */
  readonly made: Made;
  readonly [idField: string]: unknown;
}

/** A request as its activity gets it: with the key of its step. */
export type Keyed = object & { readonly unique_request_id?: string };

/** How long a function of an operation may take that names no time. */
export const TIMEOUT_MS = 30_000;

/** Says what became of a send, as the function that sent it knows. */
class SendError extends Error {
  readonly error: PaymentsError;
  constructor(error: PaymentsError) {
    super(error.message);
    this.error = error;
  }
}

/** Run a function of an operation: with heartbeats, and no longer than its time. */
export const call = async <A>(
  { timeoutMs = TIMEOUT_MS }: Pick<OwnOperation<object, Made>, "timeoutMs">,
  run: (context: CallContext) => Promise<A>,
): Promise<A> => {
  const activity = Context.current();
  const { cancellationSignal } = activity;
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), cancellationSignal]);
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  const heart = setInterval(() => activity.heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    // A function that does not heed its signal is waited for no longer.
    return await Promise.race([run({ signal }), aborted.promise]);
  } finally {
    clearInterval(heart);
    signal.removeEventListener("abort", abort);
  }
};

/** The request as a function of the operation gets it: without the key of its step. */
export const plainRequest = ({ unique_request_id: _, ...request }: Keyed): object => request;

/** What the error of a function that sends says; what it does not say is not known. */
export const errorOf = (operation: string, thrown: unknown): PaymentsError => {
  if (thrown instanceof SendError) return thrown.error;
  const message = `${operation} failed, and whether it was carried out is not known: ${redact(messageOf(thrown))}`;
  return new OutcomeUnknown({ operation, carriedOut: "unknown", message });
};

/** What a function that sends is given, beside the signal: the key, and the words for what it knows of the outcome. */
export const sendContext = (operation: string, request: Keyed, intent: SendIntent) =>
  ({
    key: request.unique_request_id ?? "",
    isResend: intent.isResend ?? intent.number > 1,
    refused: (given) => {
      const reason = redact(given);
      const message = `${operation} was refused: ${reason}`;
      return new SendError(new Refused({ operation, carriedOut: "no", message, code: 0, reason }));
    },
    notCarriedOut: (given, { retryAfterMs: retryAfter } = {}) => {
      const about = {
        operation,
        carriedOut: "no",
        message: `${operation} was not carried out: ${redact(given)}`,
      } as const;
      return new SendError(
        retryAfter === undefined
          ? new Unavailable(about)
          : new RateLimited({ ...about, retryAfter }),
      );
    },
  }) satisfies Omit<SendContext, "signal">;

/** The result of an operation; its answer has to name what was made. */
export const resultOf = (operation: string, made: Made, idField: string): OwnResult => {
  const id = textAt(made, "id");
  if (id !== undefined && id.trim() !== "") return { [idField]: id, made };
  throw new SendError(
    new UnexpectedAnswer({
      operation,
      carriedOut: "unknown",
      message: `${operation} was answered without the id of what it made: its function must return {id}, a text.`,
      answer: "",
    }),
  );
};
