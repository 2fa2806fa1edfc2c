import { clientHash } from "@durable-payments/protocol/account";
import { baseQueue } from "@durable-payments/protocol";
import type { ClientOptions, ClientPlugin } from "@temporalio/client";
import type {
  BundleOptions,
  BundlerPlugin,
  Worker,
  WorkerOptions,
  WorkerPlugin,
} from "@temporalio/worker";
import { bundleOfWorker, withPaymentWorkflows } from "./bundle/payments-bundle.ts";
import { CannotStart } from "./cannot-start.ts";
import { vouchingInterceptor } from "./client/vouching.ts";
import { readAccounts } from "./settings/accounts.ts";
import { checkKeys, converterOf } from "./settings/data-converter.ts";
import { refuseUnknownSettings } from "./settings/known-settings.ts";
import type { PaymentsSettings } from "./settings/payments-settings.ts";
import type { WorkerProcess } from "./settings/worker-process.ts";
import { checkAccounts } from "./worker/account.ts";
import { checkPackages } from "./worker/check-packages.ts";
import { deploymentFromEnvironment } from "./worker/deployment.ts";
import { openLedgerOf } from "./worker/ledger.ts";
import { PaymentsWorker } from "./worker/payments-worker.ts";

/** A worker as it was configured. */
interface Configured {
  readonly payments: PaymentsWorker;
  readonly options: WorkerOptions;
}

const DEFAULT_GRACE = "30 seconds";

/**
 * Checks that what a worker is to run has no name of what the plugin runs beside it.
 *
 * @throws CannotStart
 */
const checkNames = (
  { activities = {}, taskQueue }: WorkerOptions,
  ours: ReadonlyArray<string>,
): void => {
  const base = baseQueue(taskQueue);
  if (base !== taskQueue) {
    throw new CannotStart(
      `PaymentsPlugin polls the task queue ${taskQueue} itself, beside the base queue: create the worker with taskQueue: "${base}".`,
    );
  }
  const taken = Object.keys(activities).filter((name) => ours.includes(name));
  if (taken.length > 0) {
    throw new CannotStart(
      `PaymentsPlugin brings the activities ${taken.join(", ")} itself: leave yours out, or give them other names.`,
    );
  }
};

/** Only this class reaches what is private to a plugin. */
let madeIn: (settings: PaymentsSettings, process: WorkerProcess) => PaymentsPlugin;

/**
 * Make a plugin for which other variables count than those of this process, or whose server skips waiting.
 *
 * @param settings as those of {@link PaymentsPlugin}.
 * @throws CannotStart for a setting of an unknown name.
 */
export const paymentsPluginIn = (
  process: WorkerProcess,
  settings: PaymentsSettings,
): PaymentsPlugin => madeIn(settings, process);

/**
 * A plugin of the Temporal SDK by which a worker runs payments, each exactly once, beside its own workflows and
 * activities.
 *
 * Of a worker it adds the activities and the workflows of payments, runs the workers of the task queues beside the base
 * queue (`payments/batch`, and `payments@NAME` of each named account) as long as the worker runs, opens the ledger, and
 * keeps the tracker (and, with `notify`, the notifier) running. `Worker.create` rejects with {@link CannotStart} where a
 * setting is missing or wrong, or the ledger cannot be written: before any work is taken. Where one of the workers
 * drains, by a signal or by `worker.shutdown()`, or fails, all of them drain, and `worker.run()` ends with the error.
 *
 * It is a plugin of `bundleWorkflowCode` and `Worker.runReplayHistory`, too, with the same bundle; and of `Client`, whose
 * runs it vouches for as the first of their ids: they are refused where the id is known. Where a worker has other plugins, name it
 * last. One instance serves any number of workers.
 *
 * @example
 * ```ts
 * const worker = await Worker.create({
 *   connection,
 *   taskQueue: "payments",
 *   workflowsPath: fileURLToPath(import.meta.resolve("./workflows.ts")),
 *   plugins: [new PaymentsPlugin({ maxAmounts: { EUR: "10000.00", USD: "1000.00" } })],
 * });
 * await worker.run();
 * ```
 */
export class PaymentsPlugin implements WorkerPlugin, BundlerPlugin, ClientPlugin {
  readonly name = "durable-payments";
  readonly #settings: PaymentsSettings;
  /** By an activity of theirs: a worker keeps that, whatever other plugins do with its options. */
  readonly #configured = new WeakMap<object, Configured>();
  readonly #running = new WeakSet<Worker>();
  #process: WorkerProcess = { environment: process.env, skipsTime: false };

  static {
    madeIn = (settings, process) => {
      const plugin = new PaymentsPlugin(settings);
      plugin.#process = process;
      return plugin;
    };
  }

  /**
   * Make the plugin. Nothing is opened, and the environment is not read, before a worker is created.
   *
   * @param settings what differs from the environment variables `PAYMENTS_*`.
   * @throws CannotStart for a setting of an unknown name.
   */
  constructor(settings: PaymentsSettings = {}) {
    refuseUnknownSettings(settings);
    this.#settings = settings;
  }

  /** Add the workflows of payments to a bundle. Called by the SDK. */
  configureBundler(options: BundleOptions): BundleOptions {
    const { failureConverterPath } = converterOf({}, this.#process.environment) ?? {};
    return withPaymentWorkflows({
      ...(failureConverterPath && { failureConverterPath }),
      ...options,
    });
  }

  /** Has a client vouch for the runs that it starts. Called by the SDK. */
  configureClient(options: Omit<ClientOptions, "plugins">): Omit<ClientOptions, "plugins"> {
    const { interceptors } = options;
    const own = interceptors?.workflow ?? [];
    if (!Array.isArray(own)) {
      throw new CannotStart(
        "PaymentsPlugin takes interceptors of a client as a list only: interceptors: { workflow: [...] }.",
      );
    }
    const dataConverter = converterOf(options, this.#process.environment);
    return {
      ...options,
      ...(dataConverter && { dataConverter }),
      interceptors: { ...interceptors, workflow: [...own, vouchingInterceptor()] },
    };
  }

  /**
   * Checks settings and ledger, and adds activities and workflows to a worker. Called by the SDK.
   *
   * @throws CannotStart
   */
  async configureWorker(own: WorkerOptions): Promise<WorkerOptions> {
    // On the connection and on the worker it is called twice.
    if (this.#configuredOf(Object.values(own.activities ?? {})) !== undefined) return own;
    checkPackages();
    // As it is now: what has been checked counts, though the program sets the variables of another worker meanwhile.
    const environment = { ...this.#process.environment };
    const dataConverter = converterOf(own, environment);
    const given = { ...own, ...(dataConverter && { dataConverter }) };
    await checkKeys(dataConverter);
    const accounts = readAccounts(this.#settings, environment);
    const payments = new PaymentsWorker(this.#settings, accounts, {
      ...this.#process,
      environment,
    });
    checkNames(given, Object.keys(payments.activities));
    const first = await checkAccounts(accounts, environment);
    // One that cannot be opened keeps the worker from being created.
    if (this.#process.ledger === undefined) {
      await (await openLedgerOf(this.#settings, clientHash(first), environment)).close();
    }
    const { bundlerOptions: _bundled, workflowsPath: _path, interceptors, ...rest } = given;
    const options: WorkerOptions = {
      ...deploymentFromEnvironment(given, environment),
      shutdownGraceTime: DEFAULT_GRACE,
      // The tracker's heartbeat is the ledger's witness: it may not be older than what a copy may miss.
      maxHeartbeatThrottleInterval: "1 second",
      ...(payments.perSecond !== undefined && {
        maxTaskQueueActivitiesPerSecond: payments.perSecond,
      }),
      ...rest,
      workflowBundle: await bundleOfWorker(given, this),
      activities: { ...given.activities, ...payments.activities },
      interceptors: {
        ...interceptors,
        activity: [...(interceptors?.activity ?? []), ...payments.activityInterceptors],
        // They are in the bundle.
        workflowModules: [],
      },
    };
    for (const activity of Object.values(payments.activities)) {
      this.#configured.set(activity, { payments, options });
    }
    return options;
  }

  /** Run a worker with its companions. Called by the SDK. */
  async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const configured = this.#configuredOf(worker.options.activities.values());
    if (configured === undefined || this.#running.has(worker)) return next(worker);
    this.#running.add(worker);
    await configured.payments.run(worker, configured.options, () => next(worker));
  }

  #configuredOf(activities: Iterable<unknown>): Configured | undefined {
    for (const activity of activities) {
      const configured =
        typeof activity === "function" ? this.#configured.get(activity) : undefined;
      if (configured !== undefined) return configured;
    }
    return undefined;
  }
}
