import { ConnectionFailed } from "@durable-payments/operations/errors";
import { isGrpcServiceError, ServiceError } from "@temporalio/client";

/** Says whether an error is one of a server, or of a ledger, that cannot be reached now: the call is repeated. */
export const isTransient = (error: unknown): boolean =>
  error instanceof ConnectionFailed || error instanceof ServiceError || isGrpcServiceError(error);
