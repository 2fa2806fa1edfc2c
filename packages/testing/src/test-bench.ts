import { type Ledger, openLedger } from "@durable-payments/ledger";
import type { PaymentsSettings } from "@durable-payments/plugin";
import { paymentsPluginIn } from "@durable-payments/plugin/internal";
import { accountHash } from "@durable-payments/protocol/account";
import { type Simulator, type SimulatorOptions, startSimulator } from "@durable-payments/simulator";
import type { DataConverter } from "@temporalio/common";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { bundleOf } from "./bundles.ts";
import type { TestServer } from "./test-server.ts";

/** What the worker of tests is made of. */
export interface BenchOptions {
  readonly server: TestServer;
  readonly workflowsPath: string;
  /** Activities of the user's own. */
  readonly activities: object;
  readonly dataConverter: DataConverter | undefined;
  /** All settings of the worker: no variable of the tests' own process counts for what they leave out. */
  readonly settings: PaymentsSettings;
  readonly simulator: Omit<SimulatorOptions, "clock" | "host" | "port" | "stateFile"> | undefined;
}

/** A worker keeps to the budget of sign-ins by the computer's clock: it must not need one for each hour that is skipped. */
const LONG_TOKEN = "36500 days";

const NAMESPACE = "default";

/** The service is in this process: what takes longer is a fault that the test has ordered. */
const REQUEST_TIMEOUT_MS = 1_000;

/**
 * A worker that is kept across the tests of a file, and the service and the ledger that it works with, which each test
 * has of its own: the service starts again on the same port, and the ledger that the worker has is exchanged.
 */
export class TestBench {
  readonly taskQueue = `payments-${randomUUID()}`;
  readonly #options: BenchOptions;
  #simulator: Simulator | undefined;
  #ledger: Ledger | undefined;
  #worker:
    | { readonly worker: Worker; readonly running: Promise<void>; readonly kill: () => void }
    | undefined;
  #environment: TestWorkflowEnvironment | undefined;

  constructor(options: BenchOptions) {
    this.#options = options;
  }

  /** The ledger of the test that runs. */
  get ledger(): Ledger {
    if (this.#ledger === undefined) throw new Error("No test runs.");
    return this.#ledger;
  }

  /** The service of the test that runs. */
  get simulator(): Simulator {
    if (this.#simulator === undefined) throw new Error("No test runs.");
    return this.#simulator;
  }

  /** Begins a test: an empty service, an empty ledger, and a worker that runs. */
  async begin(): Promise<void> {
    const { server, simulator } = this.#options;
    const { clock, environment } = server;
    const port = this.#simulator === undefined ? 0 : Number(new URL(this.#simulator.url).port);
    await this.#simulator?.stop();
    this.#simulator = await startSimulator({
      ...(environment.supportsTimeSkipping && { tokenLifetime: LONG_TOKEN }),
      ...simulator,
      clock: clock.now,
      port,
    });
    await this.#ledger?.close();
    // Of a server that others have used, the time is far ahead.
    await clock.now();
    // The server may be another one by the next test.
    this.#ledger = await openLedger("memory", { clock: () => server.clock.known() });
    if (this.#environment !== environment) await this.end();
    if (this.#worker === undefined) await this.startWorker();
    else await this.#setLimits();
  }

  /** Ends the worker at once: what it has begun is given up, and what it knew is gone. */
  async end(): Promise<void> {
    const ended = this.#worker;
    this.#worker = undefined;
    if (ended === undefined) return;
    ended.kill();
    if (ended.worker.getState() === "RUNNING") ended.worker.shutdown();
    await ended.running;
  }

  /** Starts a worker with the plugin, as its user does. @throws CannotStart of the plugin. */
  async startWorker(): Promise<void> {
    const { activities, dataConverter, server, settings, workflowsPath } = this.#options;
    const { environment } = server;
    const { nativeConnection: connection, supportsTimeSkipping: skipsTime } = environment;
    const { apiKey, clientId, url: baseUrl } = this.simulator;
    const ready = Promise.withResolvers<void>();
    const killed = { isSo: false };
    const plugin = paymentsPluginIn(
      { environment: {}, skipsTime, ledger: this.#current(() => killed.isSo) },
      {
        requestTimeoutMs: REQUEST_TIMEOUT_MS,
        ...settings,
        apiKey,
        clientId,
        baseUrl,
        onReady: () => ready.resolve(),
      },
    );
    const worker = await Worker.create({
      connection,
      namespace: NAMESPACE,
      taskQueue: this.taskQueue,
      workflowBundle: await bundleOf(workflowsPath, "worker", dataConverter),
      activities,
      ...(dataConverter && { dataConverter }),
      plugins: [plugin],
      workflowThreadPoolSize: 1,
      shutdownGraceTime: 0,
      shutdownForceTime: "20 seconds",
      // A server that skips waiting has no way to learn that a worker is gone.
      ...(skipsTime && { maxCachedWorkflows: 0 }),
    });
    const running = worker.run();
    // What it fails with, `end` throws, and the run that waits.
    running.catch(() => undefined);
    this.#worker = { worker, running, kill: () => (killed.isSo = true) };
    this.#environment = environment;
    await Promise.race([ready.promise, running]);
  }

  /** What the worker has set in the ledger of the test before. */
  async #setLimits(): Promise<void> {
    const { approveAbove = null, maxAmounts = null } = this.#options.settings;
    const { clientId, url: baseUrl } = this.simulator;
    const account = accountHash({ baseUrl, clientId });
    await this.ledger.pin(NAMESPACE);
    await this.ledger.setLimits({ account, approveAbove, maxAmounts });
  }

  /** Ends worker, service and ledger. */
  async dispose(): Promise<void> {
    await this.end();
    await this.#simulator?.stop();
    await this.#ledger?.close();
  }

  /** The ledger as the worker has it: always that of the test that runs. */
  #current(isKilled: () => boolean): Ledger {
    const lost = () => Promise.reject(new Error("The worker was killed."));
    return new Proxy({} as Ledger, {
      get: (_, name): unknown => {
        const value: unknown = Reflect.get(this.ledger, name);
        // What a killed process knew when it died, it has written nowhere.
        return isKilled() && typeof value === "function" ? lost : value;
      },
    });
  }
}
