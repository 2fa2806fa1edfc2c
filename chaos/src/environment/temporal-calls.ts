import {
  type Client,
  isGrpcServiceError,
  QueryNotRegisteredError,
  ServiceError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";
import { delay } from "../delay.ts";
import type { Environment } from "./environment.ts";

const CALL_WITHIN_MS = 8_000;

/** Whether an error is one of a server, or of workers, that cannot be reached now: the call is repeated. */
export const isTransient = (error: unknown): boolean =>
  error instanceof ServiceError ||
  error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
  error instanceof QueryNotRegisteredError ||
  isGrpcServiceError(error);

/** Call the Temporal server once, within 8 seconds. */
export const callTemporal = async <A>(
  { client, connection }: Environment,
  call: (client: Client) => Promise<A>,
): Promise<A> => await connection.withDeadline(Date.now() + CALL_WITHIN_MS, () => call(client));

/** Call until the server answers; undefined where the signal was aborted before. */
export const callUntilAnswered = async <A>(
  environment: Environment,
  signal: AbortSignal,
  call: (client: Client) => Promise<A>,
): Promise<A | undefined> => {
  while (!signal.aborted) {
    try {
      return await callTemporal(environment, call);
    } catch (error) {
      if (!isTransient(error)) throw error;
      await delay(300, signal);
    }
  }
  return undefined;
};
