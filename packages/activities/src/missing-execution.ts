import { isNotFound, temporalReason } from "@durable-payments/protocol";
import { type ConnectionLike, isGrpcServiceError, WorkflowNotFoundError } from "@temporalio/client";
import proto from "@temporalio/proto";

const { NotFoundFailure } = proto.temporal.api.errordetails.v1;

/** gRPC's code for an error of unknown origin. */
const UNKNOWN = 2;

const NOT_FOUND_FAILURE = "temporal.api.errordetails.v1.NotFoundFailure";
const NAMESPACE_NOT_FOUND_FAILURE = "temporal.api.errordetails.v1.NamespaceNotFoundFailure";

/** The test server that skips time gives no details of an error; no other server says this. */
const OF_TEST_SERVER =
  /^Execution .*not found in mutable state|^Workflow execution result not found\. |^Completed workflow$|^workflow execution already completed$/s;

/** A `NOT_FOUND`, and what the server says of it beside its text, by type. */
interface NotFound {
  readonly error: Error & { readonly metadata: object };
  readonly failures: ReadonlyMap<string, Uint8Array>;
}

const readNotFound = (error: unknown): NotFound | undefined => {
  if (!isNotFound(error) || !isGrpcServiceError(error)) return undefined;
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  const { details } = proto.google.rpc.Status.decode(Buffer.from(bytes ?? ""));
  const failures = details.map(
    ({ type_url, value }) =>
      [type_url?.split("/").at(-1) ?? "", value ?? new Uint8Array()] as const,
  );
  return { error, failures: new Map(failures) };
};

/** Whether the cluster that was asked is the one that knows best: others are told of a run later. */
const isOfActiveCluster = (notFound: Uint8Array): boolean => {
  const { activeCluster, currentCluster } = NotFoundFailure.decode(notFound);
  return activeCluster === "" || activeCluster === currentCluster;
};

const isOfExecution = ({ error, failures }: NotFound): boolean => {
  const failure = failures.get(NOT_FOUND_FAILURE);
  return failure === undefined
    ? failures.size === 0 && OF_TEST_SERVER.test(temporalReason(error))
    : isOfActiveCluster(failure);
};

/**
 * Check whether a call about an execution failed because Temporal has none such, or it has ended. What Temporal has
 * forgotten may count as never sent, so this has to be certain: a namespace that is not found (its name is wrong, it was
 * deleted, or has not reached this cluster yet), and a `NOT_FOUND` of what is between, such as a proxy, decide nothing.
 *
 * @param error of a call by the SDK or by its `workflowService`.
 * @returns false where it is not known whether there is one.
 */
export const isExecutionMissing = (error: unknown): boolean => {
  if (error instanceof WorkflowNotFoundError) return true;
  const notFound = readNotFound(error);
  return notFound !== undefined && isOfExecution(notFound);
};

/** Check whether a call by the `workflowService` of the SDK failed because Temporal has no such namespace. */
export const isNamespaceMissing = (error: unknown): boolean =>
  readNotFound(error)?.failures.has(NAMESPACE_NOT_FOUND_FAILURE) === true;

/** Any `NOT_FOUND` but that of a namespace is a `WorkflowNotFoundError` to the SDK, which keeps nothing else of it. */
const decided = (error: unknown): unknown => {
  const notFound = readNotFound(error);
  if (notFound === undefined || isOfExecution(notFound) || isNamespaceMissing(error)) return error;
  const { message, metadata } = notFound.error;
  return Object.assign(new Error(message), {
    code: UNKNOWN,
    details: `${temporalReason(error)} (NOT_FOUND, but not by Temporal itself)`,
    metadata,
  });
};

const asDecided = async (answer: Promise<unknown>): Promise<unknown> => {
  try {
    return await answer;
  } catch (error) {
    throw decided(error);
  }
};

/**
 * Give a connection by which the SDK takes a run for missing only where {@link isExecutionMissing} does.
 *
 * @param connection of a client, or of a worker.
 * @returns the same connection, whose `workflowService` says `UNKNOWN` where it is not known.
 */
export const withCertainAbsence = <A extends ConnectionLike>(connection: A): A => {
  const workflowService = new Proxy(connection.workflowService, {
    get: (service, name) => {
      const member: unknown = Reflect.get(service, name);
      if (typeof member !== "function") return member;
      return (...input: ReadonlyArray<unknown>): unknown => {
        const answer: unknown = Reflect.apply(member, service, input);
        return answer instanceof Promise ? asDecided(answer) : answer;
      };
    },
  });
  // A connection whose field is another one.
  return Object.create(connection, { workflowService: { value: workflowService } }) as A;
};
