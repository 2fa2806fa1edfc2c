import { isGrpcServiceError, ServiceError } from "@temporalio/client";
import { temporalReason } from "@durable-payments/protocol";
import { NamespaceNotFoundError } from "@temporalio/common";
import { ConnectionFailed } from "../errors.ts";
import { isNamespaceMissing } from "./missing-namespace.ts";
import type { TemporalSettings } from "./settings.ts";

/** gRPC's codes for a call that got no answer: cancelled, deadline exceeded, unavailable. */
const NO_ANSWER: ReadonlySet<number> = new Set([1, 4, 14]);

/** Whether Temporal, or a worker behind it, gave no answer; what was asked may still be done. */
export const isNoAnswer = (error: unknown): boolean => {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && NO_ANSWER.has(cause.code);
};

/** gRPC's codes for a call that is not permitted, and that comes without a valid key. */
const REFUSED: ReadonlySet<number> = new Set([7, 16]);

/** gRPC's code for a call that is not known there. */
const UNKNOWN_THERE: ReadonlySet<number> = new Set([12]);

/** What Temporal, or the connection to it, says of an error. */
export const detailsOf = (error: unknown): string => {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const details = temporalReason(error);
  if (!isGrpcServiceError(cause)) return details;
  if (REFUSED.has(cause.code)) {
    return `it refuses the credentials (TEMPORAL_API_KEY, or the certificate of TEMPORAL_TLS_*), or they are not for this namespace: ${details}`;
  }
  return UNKNOWN_THERE.has(cause.code)
    ? `what answers there does not know this request: it is not Temporal, or an old version of it (${details})`
    : details;
};

/** Words an error of Temporal for a person; any other error is returned as it is. */
export const asTemporalError = (
  error: unknown,
  { address, namespace }: Pick<TemporalSettings, "address" | "namespace">,
): unknown => {
  if (error instanceof NamespaceNotFoundError || isNamespaceMissing(error)) {
    return new ConnectionFailed({
      reason: "namespaceNotFound",
      message: `Temporal at ${address} has no namespace "${namespace}" (TEMPORAL_NAMESPACE).`,
      next: { operation: "doctor" },
    });
  }
  if (error instanceof ServiceError || isGrpcServiceError(error)) {
    return new ConnectionFailed({
      reason: "temporalError",
      message: `Temporal at ${address}, namespace "${namespace}", did not do what was asked: ${detailsOf(error)}.`,
      next: { operation: "doctor" },
    });
  }
  return error;
};
