import { isNotFound } from "@durable-payments/protocol";
import { isGrpcServiceError } from "@temporalio/client";
import proto from "@temporalio/proto";

const NAMESPACE_NOT_FOUND_FAILURE = "temporal.api.errordetails.v1.NamespaceNotFoundFailure";

/** Returns whether a call by the `workflowService` of the SDK failed because Temporal has no such namespace. */
export const isNamespaceMissing = (error: unknown): boolean => {
  if (!isNotFound(error) || !isGrpcServiceError(error)) return false;
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  const { details } = proto.google.rpc.Status.decode(Buffer.from(bytes ?? ""));
  return details.some(({ type_url }) => type_url?.endsWith(NAMESPACE_NOT_FOUND_FAILURE));
};
