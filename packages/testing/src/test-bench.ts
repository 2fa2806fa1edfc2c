import { type Ledger, openLedger } from "@durable-payments/ledger";
import type { PaymentsSettings } from "@durable-payments/plugin";
import { paymentsPluginIn } from "@durable-payments/plugin/internal";
import { trackerId } from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import { type Simulator, type SimulatorOptions, startSimulator } from "@durable-payments/simulator";
import type { Client } from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { bundleOf, defaultWorkflows } from "./bundles.ts";
import { terminate } from "./replay.ts";
import type { ServerKind, TestServer } from "./test-server.ts";

/** The settings of a worker that a test can change. */
type WorkerSettings = Pick<
  PaymentsSettings,
  "approveAbove" | "assumptions" | "maxAmounts" | "operations"
>;

/** How a test of payment workflows is set up: the settings of a worker, and these. */
export interface PaymentsTestOptions extends WorkerSettings {
  /**
   * The module that exports your workflows: a path, or the URL of a file. Default: the workflows of
   * `durable-payments/workflows`.
   */
  readonly workflowsPath?: string;
  /** Your own activities, by name. Default: none. */
  readonly activities?: object;
  /** The server: a kind of it, or the result of `startTestServer`. Default: `time-skipping`. */
  readonly server?: ServerKind | TestServer;
  /**
   * How the simulated service behaves: `{ settleAfter: "3 days", balances: { USD: "100.00" } }`. It uses the
   * server's clock. Default: payouts settle after three seconds.
   */
  readonly simulator?: Omit<SimulatorOptions, "clock" | "host" | "port" | "stateFile">;
  /** Names of further accounts, each with a simulated service of its own that behaves alike: `["eu"]`. Default: none. */
  readonly accounts?: ReadonlyArray<string>;
  /**
   * Encodes payloads and failures in the worker and the client of the test: the converter of your workers, such as
   * `encryptedDataConverter` of `durable-payments/codec`. Default: none; the environment is ignored.
   */
  readonly dataConverter?: DataConverter;
  /** Longest real time of one wait of the test, in milliseconds. Default: 10,000. */
  readonly waitLimitMs?: number;
}

const NAMES: ReadonlySet<string> = new Set(
  Object.keys({
    accounts: true,
    activities: true,
    approveAbove: true,
    assumptions: true,
    dataConverter: true,
    maxAmounts: true,
    operations: true,
    server: true,
    simulator: true,
    waitLimitMs: true,
    workflowsPath: true,
  } satisfies Record<keyof PaymentsTestOptions, true>),
);

/**
 * Checks the options of a test before anything is started: a misspelt one would be ignored, or be one of the worker.
 *
 * @throws Error that names the option.
 */
export const checkOptions = (options: PaymentsTestOptions): void => {
  const unknown = Object.keys(options).find((name) => !NAMES.has(name));
  if (unknown !== undefined)
    throw new Error(`A test has no option ${unknown}: use one of ${[...NAMES].join(", ")}.`);
  const { waitLimitMs = 1 } = options;
  if (!(waitLimitMs > 0)) throw new Error("waitLimitMs must be milliseconds above zero.");
};

/** Options of a test whose server runs. */
export type RunningTestOptions = PaymentsTestOptions & { readonly server: TestServer };

/** The budget of sign-ins follows the computer's clock, so skipped hours must not need new tokens. */
const LONG_TOKEN = "36500 days";

const NAMESPACE = "default";

/** The service is in this process: only a fault of the test takes longer. */
const REQUEST_TIMEOUT_MS = 1_000;

/** The simulated service lists at once. A server that keeps real time would wait for the three minutes that are assumed. */
const REAL_TIME = { listLagSeconds: 1 };

/** The settings of the account of a simulated service. */
export const accessOf = ({ apiKey, clientId, url: baseUrl }: Simulator) => ({
  apiKey,
  clientId,
  baseUrl,
});

/** The account of a simulated service, as a hash. */
export const hashOf = ({ clientId, url }: Simulator): string =>
  accountHash({ clientId, baseUrl: url });

/**
 * The worker of the tests of a file. Each test has its own service and ledger: the service starts again on the same port.
 *
 * A start takes a second, so a server that skips time keeps the worker across tests, and exchanges its ledger. Nothing else
 * remembers a ledger there. On a server that keeps real time, trackers do, even after they were terminated: they would take
 * the ledger of the next test for a restored copy, in which nothing is sent. So each test has accounts of its own there, and
 * with them a worker and trackers.
 */
export class TestBench {
  readonly options: RunningTestOptions;
  readonly taskQueue = `payments-${randomUUID()}`;
  /** By the names of their accounts; the first is that of the account without a name. */
  #simulators: ReadonlyArray<readonly [name: string, service: Simulator]> = [];
  #ledger: Ledger | undefined;
  #worker:
    | { readonly worker: Worker; readonly running: Promise<void>; readonly kill: () => void }
    | undefined;
  #environment: TestWorkflowEnvironment | undefined;

  constructor(options: RunningTestOptions) {
    this.options = options;
  }

  /** The ledger of the test that runs. */
  get ledger(): Ledger {
    if (this.#ledger === undefined) throw new Error("No test runs.");
    return this.#ledger;
  }

  /** The service of the test that runs. */
  get simulator(): Simulator {
    const [first] = this.#simulators;
    if (first === undefined) throw new Error("No test runs.");
    return first[1];
  }

  /** The services of the named accounts. */
  get accounts(): Readonly<Record<string, Simulator>> {
    return Object.fromEntries(this.#simulators.slice(1));
  }

  /** The settings of the named accounts. */
  get accountAccess() {
    const named = Object.entries(this.accounts);
    return Object.fromEntries(named.map(([name, of]) => [name, accessOf(of)]));
  }

  /** Begins a test: an empty service, an empty ledger, and a worker that runs. */
  async begin(): Promise<void> {
    const { accounts = [], server, simulator } = this.options;
    const { clock, environment } = server;
    const ports = this.#simulators.map(([, { url }]) => Number(new URL(url).port));
    await this.#stopServices();
    const start = async (name: string, at: number) =>
      [
        name,
        await startSimulator({
          ...(environment.supportsTimeSkipping && { tokenLifetime: LONG_TOKEN }),
          ...(at > 0 && { clientId: `client-${name}`, apiKey: `key-${name}` }),
          ...simulator,
          clock: clock.now,
          port: ports[at] ?? 0,
          ...(!environment.supportsTimeSkipping && { clientId: `client-${randomUUID()}` }),
        }),
      ] as const;
    this.#simulators = await Promise.all(["", ...accounts].map(start));
    await this.#ledger?.close();
    // The time of a server that others have used is far ahead.
    await clock.now();
    // The server may be another one by the next test.
    this.#ledger = await openLedger("memory", { clock: () => server.clock.known() });
    if (this.#environment !== environment) await this.end();
    if (this.#worker === undefined) await this.startWorker();
    else await this.ledger.pin(NAMESPACE);
  }

  /** Ends the worker at once: its work in progress and its memory are lost. */
  async end(): Promise<void> {
    const ended = this.#worker;
    this.#worker = undefined;
    if (ended === undefined) return;
    ended.kill();
    if (ended.worker.getState() === "RUNNING") ended.worker.shutdown();
    await ended.running;
  }

  /** Ends the worker, and the trackers that it has kept running on the server. */
  async endWithTrackers(client: Client): Promise<void> {
    const ids = this.#simulators.map(([name, service]) =>
      trackerId(hashOf(service), name === "" ? undefined : name),
    );
    try {
      await this.end();
    } finally {
      for (const id of ids) await terminate(client.workflow.getHandle(id));
    }
  }

  /** Starts a worker with the plugin, as its user does. @throws CannotStart of the plugin. */
  async startWorker(): Promise<void> {
    const {
      accounts: _names,
      activities = {},
      assumptions,
      dataConverter,
      server,
      simulator: _simulator,
      waitLimitMs: _limit,
      workflowsPath = defaultWorkflows(),
      ...settings
    } = this.options;
    const { environment } = server;
    const { nativeConnection: connection, supportsTimeSkipping: skipsTime } = environment;
    const ready = Promise.withResolvers<void>();
    const killed = { isSo: false };
    const plugin = paymentsPluginIn(
      { environment: {}, skipsTime, ledger: this.#current(() => killed.isSo) },
      {
        requestTimeoutMs: REQUEST_TIMEOUT_MS,
        ...settings,
        assumptions: { ...(!skipsTime && REAL_TIME), ...assumptions },
        ...accessOf(this.simulator),
        accounts: this.accountAccess,
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
    // Its error is thrown by `end`, and by the run that waits.
    running.catch(() => undefined);
    this.#worker = { worker, running, kill: () => (killed.isSo = true) };
    this.#environment = environment;
    await Promise.race([ready.promise, running]);
  }

  /** Ends worker, service and ledger. */
  async dispose(): Promise<void> {
    await this.end();
    await this.#stopServices();
    await this.#ledger?.close();
  }

  async #stopServices(): Promise<void> {
    await Promise.all(this.#simulators.map(([, service]) => service.stop()));
  }

  /** The ledger of the running test, behind one object that the worker keeps. */
  #current(isKilled: () => boolean): Ledger {
    const lost = () => Promise.reject(new Error("The worker was killed."));
    return new Proxy({} as Ledger, {
      get: (_, name): unknown => {
        const value: unknown = Reflect.get(this.ledger, name);
        // A killed process writes nothing more.
        return isKilled() && typeof value === "function" ? lost : value;
      },
    });
  }
}
