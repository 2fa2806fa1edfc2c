import { isGrpcServiceError, ServiceError } from "@temporalio/client";
import { ConnectionFailed, type NextOperation } from "../errors.ts";
import { detailsOf } from "./temporal-errors.ts";
import type { Temporal } from "./temporal.ts";

/**
 * gRPC's codes that leave open whether the call was carried out: cancelled, unknown, deadline exceeded,
 * resource exhausted (an attempt before may have been carried out), aborted, internal, unavailable, data loss.
 */
const LEFT_OPEN: ReadonlySet<number> = new Set([1, 2, 4, 8, 10, 13, 14, 15]);

/** How long Temporal may take to change something, attempts of the client included. */
const ANSWER_WITHIN_MS = 15_000;

const isLeftOpen = (error: unknown): error is Error => {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && LEFT_OPEN.has(cause.code);
};

/**
 * Has Temporal change something, within a bound.
 *
 * @param about what may have been done where there is no answer (`The run i-1 may have been started`), and
 *   how to look.
 * @param change asks for it, and reads what it has to know afterwards.
 * @throws ConnectionFailed with `carriedOut: "unknown"` where there is no answer
 */
export const changing = async <A>(
  { connection, settings }: Pick<Temporal, "connection" | "settings">,
  about: { readonly mayBe: string; readonly next: NextOperation },
  change: () => Promise<A>,
): Promise<A> => {
  try {
    return await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, change);
  } catch (error) {
    if (!isLeftOpen(error)) throw error;
    throw new ConnectionFailed({
      reason: "temporalError",
      carriedOut: "unknown",
      message: `Temporal at ${settings.address}, namespace "${settings.namespace}", gave no answer: ${detailsOf(error)}. ${about.mayBe}: check before you do it again.`,
      next: about.next,
    });
  }
};
