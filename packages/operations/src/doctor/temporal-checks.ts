import { readNamespaceAttributes } from "@durable-payments/activities/namespace-attributes";
import { COMPLETE_WITHIN, isNotFound } from "@durable-payments/protocol";
import { msToNumber, optionalTsToMs } from "@temporalio/common/lib/time.js";
import type { TemporalSettings } from "../connection/settings.ts";
import { type Temporal, withTemporal } from "../connection/temporal.ts";
import { detailsOf } from "../connection/temporal-errors.ts";
import { ConnectionFailed } from "../errors.ts";
import { describePause, findPause } from "../pause/pause.ts";
import { type Check, failed, ok, skipped, warning } from "./check.ts";
import { checkNotifications, NOTIFICATIONS } from "./notification-checks.ts";
import { checkWorkers, type KnownAccount, WORKER_CHECKS } from "./worker-checks.ts";

/** Names of the checks without which nothing can be started. */
export const CONNECTION_CHECKS: ReadonlyArray<string> = ["Temporal", "namespace"];

const RETENTION = "retention";
const DAY_MS = 24 * 60 * 60_000;

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
      isMissing ? `there is no namespace ${namespace}` : detailsOf(error),
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

/** Retention that is shorter than a payout may take. */
const checkRetention = async ({ client, settings }: Temporal): Promise<Check> => {
  const { config } = await client.workflowService.describeNamespace({
    namespace: settings.namespace,
  });
  const kept = optionalTsToMs(config?.workflowExecutionRetentionTtl);
  if (kept === undefined) return skipped(RETENTION, "not known: the server does not show it");
  const count = Math.round((kept / DAY_MS) * 10) / 10;
  const days = `${count} ${count === 1 ? "day" : "days"}`;
  return kept >= msToNumber(COMPLETE_WITHIN)
    ? ok(RETENTION, days)
    : warning(
        RETENTION,
        `${days} after its end a run is forgotten, and a payout may take ${COMPLETE_WITHIN}: what was done cannot be explained any more, and its id is known by the journal alone`,
        command(
          settings,
          "namespace update",
          `--retention ${COMPLETE_WITHIN.replace(" days", "d")}`,
        ),
      );
};

const checkPause = async (temporal: Temporal): Promise<Check> => {
  const pause = await findPause(temporal);
  return pause === undefined
    ? ok("sends", "not paused")
    : failed("sends", describePause(pause), { operation: "resume" });
};

/** Checks of a namespace: the names of what each finds, and how. */
interface NamespaceCheck {
  readonly names: ReadonlyArray<string>;
  readonly check: (
    temporal: Temporal,
    accounts: ReadonlyArray<KnownAccount>,
  ) => Promise<ReadonlyArray<Check>>;
}

const single = (name: string, check: (temporal: Temporal) => Promise<Check>): NamespaceCheck => ({
  names: [name],
  check: async (temporal) => [await check(temporal)],
});

const NAMESPACE_CHECKS: ReadonlyArray<NamespaceCheck> = [
  single("search attributes", checkSearchAttributes),
  single(RETENTION, checkRetention),
  { names: WORKER_CHECKS, check: checkWorkers },
  single("sends", checkPause),
  single(NOTIFICATIONS, checkNotifications),
];

const skipNamespaceChecks = (why: string): ReadonlyArray<Check> =>
  NAMESPACE_CHECKS.flatMap(({ names }) =>
    names.map((name) => skipped(name, `not checked: ${why}`)),
  );

const guarded = async (
  { check, names }: NamespaceCheck,
  temporal: Temporal,
  accounts: ReadonlyArray<KnownAccount>,
): Promise<ReadonlyArray<Check>> => {
  try {
    return await check(temporal, accounts);
  } catch (error) {
    return names.map((name) =>
      failed(name, detailsOf(error), "Check the credentials of this namespace."),
    );
  }
};

/**
 * Check everything about Temporal that the runs need.
 *
 * @param accounts of the settings.
 */
export const checkTemporal = async (
  settings: () => TemporalSettings,
  accounts: ReadonlyArray<KnownAccount>,
): Promise<ReadonlyArray<Check>> => {
  try {
    return await withTemporal(settings(), async (temporal) => {
      const server = await checkServer(temporal);
      const namespace = await checkNamespace(temporal);
      return namespace.status === "ok"
        ? [
            server,
            namespace,
            ...(
              await Promise.all(NAMESPACE_CHECKS.map((check) => guarded(check, temporal, accounts)))
            ).flat(),
          ]
        : [server, namespace, ...skipNamespaceChecks("the namespace cannot be used")];
    });
  } catch (error) {
    if (!(error instanceof ConnectionFailed)) throw error;
    return [
      failed("Temporal", error.message, error.next ?? "Correct TEMPORAL_*, or what is there."),
      skipped("namespace", "not checked: Temporal cannot be reached"),
      ...skipNamespaceChecks("Temporal cannot be reached"),
    ];
  }
};
