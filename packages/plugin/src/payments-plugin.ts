import type { ClientOptions, ClientPlugin } from "@temporalio/client";
import type {
  BundleOptions,
  BundlerPlugin,
  NativeConnectionOptions,
  NativeConnectionPlugin,
  Worker,
  WorkerOptions,
  WorkerPlugin,
} from "@temporalio/worker";
import { readSettings } from "@durable-payments/protocol/settings";
import { bundler } from "./bundle.ts";
import { logAsSet } from "./logger.ts";
import { converterOf, prepareWorker, type PreparedWorker } from "./payments-worker.ts";
import {
  CannotStart,
  checkProgramSettings,
  orCannotStart,
  type PaymentsSettings,
  type WorkerProcess,
} from "./settings.ts";
import { vouchingInterceptor } from "./vouching.ts";

/** Plugins whose process is not this one. */
const processes = new WeakMap<PaymentsPlugin, WorkerProcess>();

/**
 * Makes a plugin with an environment other than this process's, or for a server that skips time.
 *
 * @param settings as those of {@link PaymentsPlugin}.
 * @throws CannotStart for an invalid setting.
 */
export const paymentsPluginIn = (
  process: WorkerProcess,
  settings: PaymentsSettings,
): PaymentsPlugin => {
  const plugin = new PaymentsPlugin(settings);
  processes.set(plugin, process);
  return plugin;
};

/**
 * A plugin of the Temporal SDK. With it, a worker runs payments, each exactly once, together with its own workflows and
 * activities.
 *
 * It opens the ledger, and adds the activities of payments to a worker. As long as that worker runs, it runs the workers of
 * the further task queues: `payments/batch`, and `payments@NAME` of each named account. It also keeps the tracker running,
 * and the notifier if `notify` is set.
 *
 * The module of `workflowsPath` exports the workflows of payments by name, with your own. `Worker.create` rejects with
 * {@link CannotStart} if it does not, if a setting is missing or invalid, or if the ledger cannot be written: before any
 * work is taken. If one of the workers fails or drains, by a signal or by `worker.shutdown()`, then all of them drain, and
 * `worker.run()` ends with the error.
 *
 * It is a plugin of `bundleWorkflowCode` and `Worker.runReplayHistory` as well, with the same bundle; and of `Client`,
 * whose runs it vouches for as the first of their ids: a known id is refused. If a worker has other plugins, name it
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
export class PaymentsPlugin
  implements NativeConnectionPlugin, WorkerPlugin, BundlerPlugin, ClientPlugin
{
  readonly name = "durable-payments";
  readonly #settings: PaymentsSettings;
  /** By one of their activities: a worker keeps that, whatever other plugins do with its options. */
  readonly #prepared = new WeakMap<object, PreparedWorker>();
  readonly #running = new WeakSet<Worker>();

  /**
   * Makes the plugin. Nothing is opened, and the environment is not read, before a worker is created.
   *
   * @param settings those that differ from the environment and the settings file.
   * @throws CannotStart for an invalid setting.
   */
  constructor(settings: PaymentsSettings = {}) {
    checkProgramSettings(settings);
    this.#settings = settings;
  }

  /** Configures a bundle of workflows. Called by the SDK. */
  configureBundler(options: BundleOptions): BundleOptions {
    const { failureConverterPath } = this.#converterOf({}) ?? {};
    return bundler.configureBundler({
      ...(failureConverterPath && { failureConverterPath }),
      ...options,
    });
  }

  /** Configures the log of the SDK, if its Runtime is not installed yet. Called by the SDK. */
  configureNativeConnection(options: NativeConnectionOptions): NativeConnectionOptions {
    logAsSet(orCannotStart(() => readSettings(this.#process.environment)));
    return options;
  }

  /** Has a client vouch for the runs that it starts. Called by the SDK. */
  configureClient(options: Omit<ClientOptions, "plugins">): Omit<ClientOptions, "plugins"> {
    const { interceptors } = options;
    const own = interceptors?.workflow ?? [];
    if (!Array.isArray(own)) {
      throw new CannotStart(
        "PaymentsPlugin accepts client interceptors only as a list: interceptors: { workflow: [...] }.",
      );
    }
    const dataConverter = this.#converterOf(options);
    return {
      ...options,
      ...(dataConverter && { dataConverter }),
      interceptors: { ...interceptors, workflow: [...own, vouchingInterceptor()] },
    };
  }

  /**
   * Checks settings and ledger, and adds activities to a worker. Called by the SDK.
   *
   * @throws CannotStart
   */
  async configureWorker(own: WorkerOptions): Promise<WorkerOptions> {
    // The SDK calls it once for the connection and once for the worker.
    if (this.#preparedOf(Object.values(own.activities ?? {})) !== undefined) return own;
    const prepared = await prepareWorker(own, this.#settings, this.#process, this);
    for (const activity of Object.values(prepared.activities)) {
      this.#prepared.set(activity, prepared);
    }
    return prepared.options;
  }

  /** Runs a worker with its companions. Called by the SDK. */
  async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const prepared = this.#preparedOf(worker.options.activities.values());
    if (prepared === undefined || this.#running.has(worker)) return next(worker);
    this.#running.add(worker);
    await prepared.run(worker, () => next(worker));
  }

  #converterOf(options: Parameters<typeof converterOf>[0]) {
    const { keyring } = this.#settings;
    const read = orCannotStart(() => readSettings(this.#process.environment));
    return converterOf(options, { ...read, ...(keyring !== undefined && { keyring }) });
  }

  get #process(): WorkerProcess {
    return processes.get(this) ?? { environment: process.env, skipsTime: false };
  }

  #preparedOf(activities: Iterable<unknown>): PreparedWorker | undefined {
    for (const activity of activities) {
      const prepared = typeof activity === "function" ? this.#prepared.get(activity) : undefined;
      if (prepared !== undefined) return prepared;
    }
    return undefined;
  }
}
