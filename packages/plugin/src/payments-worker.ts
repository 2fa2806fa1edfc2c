import {
  makePaymentsActivities,
  readHintSettings,
  readNotificationSettings,
} from "@durable-payments/activities";
import { messageOf } from "@durable-payments/client/values";
import { checkDataConverter, readDataConverter } from "@durable-payments/codec";
import type { Ledger } from "@durable-payments/ledger";
import { baseQueue, WORKFLOW } from "@durable-payments/protocol";
import { lateAfterMsOf } from "@durable-payments/protocol/settings";
import { Client } from "@temporalio/client";
import {
  type BundlerPlugin,
  NativeConnection,
  Runtime,
  type Worker,
  type WorkerOptions,
} from "@temporalio/worker";
import { type Account, openAccounts } from "./accounts.ts";
import { bundleOfWorker } from "./bundle.ts";
import { createCompanions, rateOf, runTogether } from "./companions.ts";
import { listenForHints } from "./hints.ts";
import type { Listener } from "./listen.ts";
import { logAsSet } from "./logger.ts";
import {
  type HealthListener,
  ledgerCheck,
  listenForProbes,
  pollersCheck,
  signInCheck,
  temporalCheck,
} from "./health.ts";
import {
  endUnserved,
  ensure,
  everyMinute,
  notifierOf,
  trackerOf,
  warnOfOtherHosts,
} from "./kept-workflows.ts";
import { makeScrape } from "./metrics.ts";
import {
  CannotStart,
  orCannotStart,
  type PaymentsSettings,
  readWorkerSettings,
  type WorkerProcess,
  type WorkerSettings,
} from "./settings.ts";
import { attemptSpans, openTracing, type Tracing, tracingEndpoint } from "./tracing.ts";
import { compareLedger, onceOpened, openLedgerOf, withLedger } from "./worker-ledger.ts";

const DEFAULT_GRACE = "30 seconds";
const DEFAULT_BATCH_SHARE = 0.5;

type Environment = WorkerProcess["environment"];
type DataConverter = NonNullable<WorkerOptions["dataConverter"]>;

/**
 * Returns the data converter of a worker's or client's options, or else the converter of the settings.
 *
 * @throws CannotStart if the converter of the settings cannot be used.
 */
export const converterOf = (
  given: { readonly dataConverter?: DataConverter; readonly namespace?: string },
  settings: Parameters<typeof readDataConverter>[0],
): DataConverter | undefined =>
  given.dataConverter ??
  orCannotStart(() => readDataConverter(settings, given.namespace ?? "default"));

/** Variables that Temporal's worker controller for Kubernetes sets; they count if ours are not set. */
const OF_CONTROLLER = ["TEMPORAL_DEPLOYMENT_NAME", "TEMPORAL_WORKER_BUILD_ID"] as const;

/** Reads the version of the deployment that a worker belongs to; options of its own count alone. */
const deploymentOf = (
  { workerDeploymentOptions }: WorkerOptions,
  read: WorkerSettings,
  environment: Environment,
): Pick<WorkerOptions, "workerDeploymentOptions"> => {
  if (workerDeploymentOptions !== undefined) return {};
  const isOurs = read.deploymentName !== undefined || read.buildId !== undefined;
  const [deploymentName = "", buildId = ""] = isOurs
    ? [read.deploymentName, read.buildId]
    : OF_CONTROLLER.map((variable) => environment[variable]?.trim());
  if (deploymentName === "" && buildId === "") return {};
  if (deploymentName === "" || buildId === "") {
    throw new CannotStart(
      `${isOurs ? "PAYMENTS_DEPLOYMENT_NAME and PAYMENTS_BUILD_ID" : OF_CONTROLLER.join(" and ")} belong together: set both, or neither.`,
    );
  }
  return {
    workerDeploymentOptions: {
      version: { deploymentName, buildId },
      useWorkerVersioning: true,
      // Payouts wait for weeks: pinned, each would keep the workers of its first version alive as long. The workflows do
      // not say it themselves: the server refuses a task in which a worker without a version names a behavior.
      defaultVersioningBehavior: "AUTO_UPGRADE",
    },
  };
};

/** @throws CannotStart if an activity or the task queue of a worker has a name of the plugin's own. */
const checkNames = (
  { activities = {}, taskQueue }: WorkerOptions,
  ours: ReadonlyArray<string>,
): void => {
  const base = baseQueue(taskQueue);
  if (base !== taskQueue) {
    throw new CannotStart(
      `PaymentsPlugin polls the task queue ${taskQueue} itself, together with the base queue: create the worker with taskQueue: "${base}".`,
    );
  }
  const taken = Object.keys(activities).filter((name) => ours.includes(name));
  if (taken.length > 0) {
    throw new CannotStart(
      `PaymentsPlugin already provides the activities ${taken.join(", ")}: remove yours, or rename them.`,
    );
  }
};

/** Returns a client as the worker itself would make one. */
const clientOf = ({ options }: Worker, connection: NativeConnection): Client => {
  const { dataConverter, identity, interceptors, namespace } = options;
  return new Client({
    connection,
    namespace,
    identity,
    interceptors: interceptors.client,
    ...(dataConverter && { dataConverter }),
  });
};

/** A worker that was checked, with the options that the SDK creates it with. */
export interface PreparedWorker {
  readonly options: WorkerOptions;
  /** The activities of payments among those of the options. */
  readonly activities: Readonly<Record<string, object>>;
  /** Runs the worker with its companions until all have drained. @throws the error of the one that failed first. */
  readonly run: (worker: Worker, next: () => Promise<void>) => Promise<void>;
}

/**
 * Prepares a worker: checks its settings, opens its accounts and its ledger, and bundles its workflows. Nothing polls
 * and nothing is sent before it runs.
 *
 * @throws CannotStart
 */
export const prepareWorker = async (
  given: WorkerOptions,
  settings: PaymentsSettings,
  process: WorkerProcess,
  plugin: BundlerPlugin,
): Promise<PreparedWorker> => {
  // A copy: the checked values count, even if the program then sets the variables of another worker.
  const environment = { ...process.environment };
  const read = readWorkerSettings(settings, environment);
  const { namespace = "default", taskQueue } = given;
  const dataConverter = converterOf(given, read);
  const worker = { ...given, ...(dataConverter && { dataConverter }) };
  await checkDataConverter(dataConverter ?? {}).catch((error: unknown) => {
    // Each of the worker's tasks would fail.
    throw new CannotStart(`${messageOf(error)}.`);
  });
  logAsSet(read);
  if (dataConverter !== undefined && read.keyring === undefined)
    Runtime.instance().logger.warn(
      "The ledger's texts are not encrypted: a dataConverter encrypts only what Temporal stores. To encrypt the ledger, set keyring (PAYMENTS_KEYRING) as well.",
    );
  const notify = orCannotStart(() => readNotificationSettings(read.notify ?? {}));
  const hinted = orCannotStart(() => readHintSettings(read.hints ?? {}));
  const deployment = deploymentOf(given, read, environment);
  const collector = orCannotStart(() => tracingEndpoint(environment));
  const accounts = openAccounts(read);
  const workflowBundle = await bundleOfWorker(worker, plugin, settings.operations ?? {});
  const draining = new AbortController();
  let moved: Error | undefined;
  // Its tasks would fail, also those that other workers could do.
  const onMoved = (error: Error) => {
    moved ??= error;
    draining.abort();
  };
  const open = () => openLedgerOf(read, accounts, namespace, process.ledger, onMoved);
  const close = async (ledger: Ledger | undefined) => {
    if (process.ledger === undefined) await ledger?.close();
  };
  // It is only checked here, and opened again by `run`: otherwise it would stay open if the worker cannot be created.
  await close(await open());
  let opened: Ledger | undefined;
  const ledger = onceOpened(() => opened);

  let tracing: Tracing | undefined;
  const activitiesOf = ({ name, runtime, settings: of }: Account) => ({
    name,
    perSecond: of.activitiesPerSecond,
    activities: makePaymentsActivities(runtime, {
      ledger,
      limits: { approveAbove: of.approveAbove ?? null, maxAmounts: of.maxAmounts ?? null },
      operations: settings.operations ?? {},
      taskQueue,
      waits: process.skipsTime ? "polled" : "completed",
      tracker: { draining: draining.signal, hints: hinted?.address },
      notifier: { draining: draining.signal, settings: notify },
    }),
  });
  const [first, ...others] = accounts;
  const made = orCannotStart(() => [activitiesOf(first), ...others.map(activitiesOf)] as const);
  const { activities, perSecond } = made[0];
  checkNames(given, Object.keys(activities));

  const { bundlerOptions: _bundled, interceptors, workflowsPath: _path, ...rest } = worker;
  const options: WorkerOptions = {
    ...deployment,
    shutdownGraceTime: DEFAULT_GRACE,
    // The tracker's heartbeat is the ledger's witness: it may not be older than what a copy may miss.
    maxHeartbeatThrottleInterval: "1 second",
    ...rateOf(perSecond),
    ...rest,
    workflowBundle,
    activities: { ...given.activities, ...activities },
    interceptors: {
      ...interceptors,
      activity: [
        ...(interceptors?.activity ?? []),
        ...(collector !== undefined ? [attemptSpans(() => tracing)] : []),
      ],
      // They are in the bundle.
      workflowModules: [],
    },
  };

  const runOn = async (
    connection: NativeConnection,
    worker: Worker,
    health: HealthListener | undefined,
    next: () => Promise<void>,
  ): Promise<void> => {
    const client = clientOf(worker, connection);
    if (collector !== undefined) {
      const warn = (message: string) => void Runtime.instance().logger.warn(message);
      tracing = await openTracing(collector, environment, warn);
    }
    await withLedger(() => compareLedger(ledger, accounts, taskQueue, client, environment));
    const { batchShare = DEFAULT_BATCH_SHARE } = read;
    const { companions, failure } = await createCompanions({
      accounts: made,
      batchShare,
      connection,
      options,
      worker,
    });
    let broken = failure;
    // A worker that was created ends only by being run.
    if (broken !== undefined) draining.abort();
    const running = runTogether(
      [
        { worker, run: next },
        ...companions.map((companion) => ({ worker: companion, run: () => companion.run() })),
      ],
      draining,
    );
    health?.watch((closed) => {
      const checks = [
        pollersCheck([worker, ...companions]),
        temporalCheck(client, closed),
        ledgerCheck(ledger, closed),
        ...accounts.map((account) => signInCheck(account, closed)),
      ];
      return { checks, scrape: makeScrape(ledger, accounts, checks, lateAfterMsOf(read.notify)) };
    });
    const trackers = process.skipsTime ? [] : accounts.map((one) => trackerOf(one, taskQueue));
    const own = trackers.map(({ workflowId }) => workflowId);
    const startedAt = Date.now();
    const kept = [
      ...trackers.map((tracker) => () => ensure(client, WORKFLOW.tracker, tracker)),
      ...(own.length > 0 ? [() => endUnserved(client, taskQueue, own, startedAt)] : []),
      ...(notify ? [() => ensure(client, WORKFLOW.notifier, notifierOf(taskQueue))] : []),
    ];
    for (const work of kept) void everyMinute(draining.signal, work);
    void warnOfOtherHosts(ledger, client, taskQueue, draining.signal);
    if (broken === undefined) {
      try {
        settings.onReady?.({
          namespace: client.options.namespace,
          taskQueue,
          ledger: ledger.place,
          ...(health && { health: health.address }),
        });
      } catch (reason) {
        // The workers poll: they drain first, as they would keep polling without a ledger.
        broken = { status: "rejected", reason };
        draining.abort();
      }
    }
    await running;
    if (moved !== undefined) throw moved;
    if (broken !== undefined) throw broken.reason;
  };

  const run = async (worker: Worker, next: () => Promise<void>): Promise<void> => {
    let own: NativeConnection | undefined;
    let health: HealthListener | undefined;
    let hints: Listener | undefined;
    try {
      opened = await open();
      // A connection that a worker has opened for itself is closed as soon as that worker has drained.
      if (options.connection === undefined) own = await NativeConnection.connect();
      const connection = own ?? worker.connection;
      if (connection === undefined) throw new CannotStart("The worker has no connection.");
      if (read.healthAddress !== undefined) {
        health = await listenForProbes(read.healthAddress);
      }
      if (hinted) {
        hints = await listenForHints(hinted, ledger, accounts);
        const names = accounts.map(({ name = "the one without a name" }) => name).join(", ");
        Runtime.instance().logger.info(
          `Hints of the service are received at ${hints.address}, for these accounts: ${names}.`,
        );
      }
      await runOn(connection, worker, health, next);
    } catch (error) {
      // The worker holds its connection, and a program that closes that next sees that error alone.
      if (error instanceof CannotStart) {
        Runtime.instance().logger.error(`The worker cannot start: ${error.message}`);
      }
      // It ends only by being run: otherwise its process stays, without a worker.
      if (worker.getState() === "INITIALIZED") {
        draining.abort();
        await runTogether([{ worker, run: next }], draining);
      }
      throw error;
    } finally {
      health?.close();
      hints?.close();
      for (const { runtime } of accounts) await runtime.dispose();
      await close(opened);
      await tracing?.close();
      await own?.close();
    }
  };
  return { options, activities: { ...activities }, run };
};
