import { readNamespaceAttributes } from "@durable-payments/activities/namespace-attributes";
import { messageOf } from "@durable-payments/api-core/values";
import { isNotFound } from "@durable-payments/protocol";
import { type NativeConnection, Runtime } from "@temporalio/worker";
import { CannotStart } from "../cannot-start.ts";
import type { Environment } from "../settings/worker-process.ts";

const read = async (connection: NativeConnection, namespace: string) => {
  try {
    return await readNamespaceAttributes(connection.operatorService, namespace);
  } catch (error) {
    if (isNotFound(error)) {
      throw new CannotStart(
        `There is no namespace "${namespace}" on this Temporal server: use another one (TEMPORAL_NAMESPACE), or create it: temporal operator namespace create ${namespace}`,
      );
    }
    // Whoever may run workflows may not always read this: the runs will show.
    Runtime.instance().logger.warn(
      `Whether the namespace has the search attributes cannot be seen: ${messageOf(error)}`,
    );
    return undefined;
  }
};

/**
 * Check that a namespace has the search attributes: without them the first act of every run would fail,
 * again and again.
 *
 * @throws CannotStart that names the command that registers them
 */
export const checkNamespaceReady = async (
  connection: NativeConnection,
  namespace: string,
  environment: Environment,
): Promise<void> => {
  const { missing = [], wrong = [] } = (await read(connection, namespace)) ?? {};
  const [first] = wrong;
  if (first !== undefined) {
    throw new CannotStart(
      `In the namespace "${namespace}" the search attribute ${first.name} is of type ${first.found}, not ${first.type}, which cannot be changed: use another namespace (TEMPORAL_NAMESPACE).`,
    );
  }
  if (missing.length > 0) {
    throw new CannotStart(
      `The namespace "${namespace}" lacks search attributes that every run needs (${missing.map(({ name }) => name).join(", ")}). Register them: ${environment["STARTER_COMMAND"] || "npx @durable-payments/cli"} doctor --fix`,
    );
  }
};
