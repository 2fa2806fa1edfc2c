import { readNamespaceAttributes } from "@durable-payments/activities/namespace-attributes";
import { messageOf } from "@durable-payments/api-core/values";
import { isNotFound } from "@durable-payments/protocol";
import type { TemporalSettings } from "../connection/settings.ts";
import { type Temporal, withTemporal } from "../connection/temporal.ts";
import { ConnectionFailed } from "../errors.ts";
import { describePause, findPause } from "../pause/pause.ts";
import { activityQueues, countPollers } from "../connection/workers.ts";
import { type Check, failed, ok, skipped } from "./check.ts";

/** Names of the checks without which nothing can be started. */
export const CONNECTION_CHECKS: ReadonlyArray<string> = ["Temporal", "namespace"];

const command = ({ address, namespace }: TemporalSettings, what: string, flags = ""): string =>
  `temporal operator ${what} --address ${address} --namespace ${namespace} ${flags}`.trimEnd();

const checkServer = async ({ client, settings }: Temporal): Promise<Check> => {
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  return ok("Temporal", `${settings.address}, server ${serverVersion || "of unknown version"}`);
};

const checkNamespace = async ({ client, settings }: Temporal): Promise<Check> => {
  const { namespace } = settings;
  try {
    await client.workflowService.describeNamespace({ namespace });
    return ok("namespace", namespace);
  } catch (error) {
    const isMissing = isNotFound(error);
    return failed(
      "namespace",
      isMissing ? `there is no namespace ${namespace}` : messageOf(error),
      isMissing
        ? command(settings, "namespace create")
        : "Check TEMPORAL_NAMESPACE and the credentials.",
    );
  }
};

const checkSearchAttributes = async ({ connection, settings }: Temporal): Promise<Check> => {
  const { missing, registered, wrong } = await readNamespaceAttributes(
    connection.operatorService,
    settings.namespace,
  );
  const namesOf = (attributes: typeof registered) => attributes.map(({ name }) => name).join(", ");
  if (wrong.length > 0) {
    return failed(
      "search attributes",
      wrong.map(({ found, name, type }) => `${name} is of type ${found}, not ${type}`).join(", "),
      "A type cannot be changed: use another namespace, or remove the attribute and create it anew.",
    );
  }
  return missing.length === 0
    ? ok("search attributes", namesOf(registered))
    : failed("search attributes", `${namesOf(missing)} not registered`, {
        operation: "fixNamespace",
      });
};

const checkWorker = async (temporal: Temporal, tasks: "workflow" | "activity"): Promise<Check> => {
  const name = `worker, ${tasks} tasks`;
  const { taskQueue } = temporal.settings;
  const queues = tasks === "workflow" ? [taskQueue] : activityQueues(taskQueue);
  const counts = await Promise.all(queues.map((queue) => countPollers(temporal, tasks, queue)));
  const unpolled = queues.filter((_, index) => counts[index] === 0);
  return unpolled.length === 0
    ? ok(name, `${Math.min(...counts)} on task queue ${queues.join(", ")}`)
    : failed(name, `none polls task queue ${unpolled.join(", ")}`, {
        operation: "startWorker",
      });
};

const checkPause = async (temporal: Temporal): Promise<Check> => {
  const pause = await findPause(temporal);
  return pause === undefined
    ? ok("sends", "not paused")
    : failed("sends", describePause(pause), { operation: "resume" });
};

const NAMESPACE_CHECKS = [
  { name: "search attributes", check: checkSearchAttributes },
  {
    name: "worker, workflow tasks",
    check: (temporal: Temporal) => checkWorker(temporal, "workflow"),
  },
  {
    name: "worker, activity tasks",
    check: (temporal: Temporal) => checkWorker(temporal, "activity"),
  },
  { name: "sends", check: checkPause },
] as const;

const skipNamespaceChecks = (why: string) =>
  NAMESPACE_CHECKS.map(({ name }) => skipped(name, `not checked: ${why}`));

const guarded = async ({ check, name }: (typeof NAMESPACE_CHECKS)[number], temporal: Temporal) => {
  try {
    return await check(temporal);
  } catch (error) {
    return failed(name, messageOf(error), "Check the credentials of this namespace.");
  }
};

/** Check everything about Temporal that the runs need. */
export const checkTemporal = async (
  settings: () => TemporalSettings,
): Promise<ReadonlyArray<Check>> => {
  try {
    return await withTemporal(settings(), async (temporal) => {
      const server = await checkServer(temporal);
      const namespace = await checkNamespace(temporal);
      return namespace.status === "ok"
        ? [
            server,
            namespace,
            ...(await Promise.all(NAMESPACE_CHECKS.map((check) => guarded(check, temporal)))),
          ]
        : [server, namespace, ...skipNamespaceChecks("the namespace cannot be used")];
    });
  } catch (error) {
    if (!(error instanceof ConnectionFailed)) throw error;
    return [
      failed("Temporal", error.message, { operation: "startServer" }),
      skipped("namespace", "not checked: Temporal cannot be reached"),
      ...skipNamespaceChecks("Temporal cannot be reached"),
    ];
  }
};
