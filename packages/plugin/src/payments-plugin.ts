import { readablePayloads } from "@durable-payments/activities/readable-payloads";
import { accountHash } from "@durable-payments/protocol/account";
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
import { type AccountHashes, startAttributesInterceptor } from "./client/start-attributes.ts";
import { readAccounts } from "./settings/accounts.ts";
import { checkKeys, converterOf } from "./settings/data-converter.ts";
import { refuseUnknownSettings } from "./settings/known-settings.ts";
import type { AccountSettings, PaymentsSettings } from "./settings/payments-settings.ts";
import type { Environment, WorkerProcess } from "./settings/worker-process.ts";
import { checkAccounts } from "./worker/account.ts";
import { checkPackages } from "./worker/check-packages.ts";
import { checkNames, checkNamespace } from "./worker/check-worker.ts";
import { deploymentFromEnvironment } from "./worker/deployment.ts";
import { PaymentsWorker } from "./worker/payments-worker.ts";

/** A worker as it was configured. */
interface Configured {
  readonly payments: PaymentsWorker;
  readonly options: WorkerOptions;
}

/** A client needs no credentials: of an account its settings may have the client id alone, or nothing. */
const accountHashes =
  (settings: PaymentsSettings, environment: Environment): AccountHashes =>
  (name) => {
    if (name === undefined) return accountOf(settings, environment);
    const named = settings.accounts?.[name];
    const { baseUrl = settings.baseUrl, clientId = "" } = named ?? {};
    return accountOf({ clientId, ...(baseUrl !== undefined && { baseUrl }) }, environment);
  };

const DEFAULT_GRACE = "30 seconds";

/** The account of the settings, as far as a process that only starts runs knows it. */
const accountOf = (
  { baseUrl, clientId }: AccountSettings,
  environment: Environment,
): string | undefined => {
  const account = {
    baseUrl: baseUrl ?? environment["PAYMENTS_BASE_URL"] ?? "",
    clientId: clientId ?? environment["PAYMENTS_CLIENT_ID"] ?? "",
  };
  return account.clientId !== "" && URL.canParse(account.baseUrl)
    ? accountHash(account)
    : undefined;
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
 * queue (`payments/service`, `payments/fallback-polling`, `payments/batch`) as long as the worker runs, keeps the
 * journal of what is sent, shares the budget of sign-ins, and keeps the tracker (and, with `notify`, the notifier)
 * running. `Worker.create` rejects with {@link CannotStart} where a setting is missing or wrong, the journal cannot be
 * written, or the namespace lacks search attributes: before any work is taken. Where one of the workers drains, by a
 * signal or by `worker.shutdown()`, or fails, all of them drain, and `worker.run()` ends with the error.
 *
 * It is a plugin of `bundleWorkflowCode` and `Worker.runReplayHistory`, too, with the same bundle; and of `Client`, whose
 * runs of `payout` and `onboardCardholder` start with their search attributes. Where a worker has other plugins, name it
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

  /** Have a client start payments with their search attributes, and read memos of any content. Called by the SDK. */
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
      ...readablePayloads.configureClient({ ...options, ...(dataConverter && { dataConverter }) }),
      interceptors: {
        ...interceptors,
        workflow: [
          ...own,
          startAttributesInterceptor(accountHashes(this.#settings, this.#process.environment)),
        ],
      },
    };
  }

  /**
   * Check settings, journal and namespace, and add activities and workflows to a worker. Called by the SDK.
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
    await checkAccounts(accounts, environment);
    await checkNamespace(given, environment);
    const { bundlerOptions: _bundled, workflowsPath: _path, interceptors, ...rest } = given;
    const options: WorkerOptions = {
      ...deploymentFromEnvironment(given, environment),
      shutdownGraceTime: DEFAULT_GRACE,
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
