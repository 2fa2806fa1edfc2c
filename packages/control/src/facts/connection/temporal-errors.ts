/*
 * Errors of Temporal in words for a person.
 *
 * A missing answer is not a refusal: the request may still be executed. So each change says in `carriedOut` whether it
 * may have happened, and calling it again is always safe.
 */
import { isNamespaceMissing, temporalReason } from "@durable-payments/protocol";
import { type Connection, isGrpcServiceError, ServiceError } from "@temporalio/client";
import { type ConnectionFailed, connectionFailed } from "../../errors.ts";

/** Address of Temporal. */
type Place = Readonly<{ address: string; namespace: string }>;

/** The codes of gRPC that are distinguished here. */
const CODES = {
  /** No answer: cancelled, deadline exceeded, unavailable. The request may still be executed. */
  noAnswer: [1, 4, 14],
  /**
   * It is open whether the call was carried out: cancelled, unknown, deadline exceeded, resource exhausted (an attempt
   * before may have been carried out), aborted, internal, unavailable, data loss.
   */
  leftOpen: [1, 2, 4, 8, 10, 13, 14, 15],
  /** Not permitted, or without a valid key. */
  refused: [7, 16],
  /** The run cannot do it in its present state. */
  notReady: [9],
  /** The server does not know the call. */
  unknownThere: [12],
  alreadyExists: [6],
} as const satisfies Record<string, ReadonlyArray<number>>;

/** Whether an error of Temporal, or its cause, has one of gRPC's codes. */
export const hasCode = (error: unknown, codes: keyof typeof CODES): error is Error => {
  const cause = error instanceof Error && !isGrpcServiceError(error) ? error.cause : error;
  return isGrpcServiceError(cause) && (CODES[codes] as ReadonlyArray<number>).includes(cause.code);
};

/** Whether Temporal, or a worker behind it, did not answer; the request may still be executed. */
export const isNoAnswer = (error: unknown): boolean => hasCode(error, "noAnswer");

/** Returns the message of Temporal, or of the connection, about an error, without its full stop. */
export const detailsOf = (error: unknown): string => {
  const details = temporalReason(error).replace(/\.$/, "");
  if (hasCode(error, "refused")) {
    return `it refuses the credentials (API key or client certificate), or they are not valid for this namespace: ${details}`;
  }
  return hasCode(error, "unknownThere")
    ? `the server there does not know this request: it is not Temporal, or an old version of it (${details})`
    : details;
};

/** Turns an error of Temporal into a message for a person; returns any other error unchanged. */
export const asTemporalError = (error: unknown, { address, namespace }: Place): unknown => {
  const failed = (reason: ConnectionFailed["reason"], is: string) =>
    connectionFailed(reason, `Temporal at ${address}${is}.`, { action: "doctor" });
  if (isNamespaceMissing(error))
    return failed("namespaceNotFound", ` has no namespace "${namespace}"`);
  const named = `, namespace "${namespace}",`;
  if (isNoAnswer(error))
    return failed("cannotConnect", `${named} does not answer: ${detailsOf(error)}`);
  if (!(error instanceof ServiceError) && !isGrpcServiceError(error)) return error;
  return failed("temporalError", `${named} rejected the request: ${detailsOf(error)}`);
};

/** Time limit of a change in Temporal, including the client's attempts: less than that after which a hanging one is given up. */
const ANSWER_WITHIN_MS = 3_000;

/** Calls Temporal for a change, within the time limit. */
export const changing = async <A>(
  { connection, settings }: Readonly<{ connection: Connection; settings: Place }>,
  workflowId: string,
  mayBe: string,
  change: () => Promise<A>,
): Promise<A> => {
  try {
    return await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, change);
  } catch (error) {
    if (!hasCode(error, "leftOpen")) throw error;
    throw connectionFailed(
      "temporalError",
      `Temporal at ${settings.address}, namespace "${settings.namespace}", did not answer: ${detailsOf(error)}. ${mayBe}: check before you do it again.`,
      { action: "show", workflowId },
      "unknown",
    );
  }
};
