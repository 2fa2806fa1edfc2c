import { nearestName, type OperationName } from "@durable-payments/api-core";
import type { Temporal } from "@durable-payments/operations";
import { decodingConnection } from "@durable-payments/operations/connection";
import type { PaymentsSettings } from "@durable-payments/plugin";
import { paymentsPluginIn } from "@durable-payments/plugin/internal";
import {
  type FaultKind,
  type FaultOrder,
  type Ledger,
  type Simulator,
  type SimulatorOptions,
  startSimulator,
  type Temperament,
} from "@durable-payments/simulator";
import {
  Client,
  type Workflow,
  type WorkflowHandle,
  type WorkflowHandleWithFirstExecutionRunId,
  type WorkflowStartOptions,
} from "@temporalio/client";
import type { DataConverter, Duration, WorkflowResultType } from "@temporalio/common";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleOf, defaultWorkflows } from "./bundles.ts";
import { crashOn } from "./crash.ts";
import { endRuns, historiesOf } from "./test-runs.ts";
import { type PaymentsRun, paymentsRun } from "./payments-run.ts";
import { replayRuns } from "./replay.ts";
import { type ServerKind, startTestServer, type TestServer } from "./test-server.ts";
import { hermetic, startTestWorker } from "./test-worker.ts";

/** What of a worker's settings a test can have otherwise. */
type WorkerSettings = Pick<
  PaymentsSettings,
  "approveAbove" | "inputs" | "maxAmounts" | "operations"
>;

/** How a test of payment workflows is set up: the settings of a worker, and these. */
export interface PaymentsTestOptions extends WorkerSettings {
  /**
   * The module that exports your workflows: a path, or the URL of a file. Default: the workflows of
   * `@durable-payments/workflows`.
   */
  readonly workflowsPath?: string;
  /** Your own activities, by name. Default: none beside those of payments. */
  readonly activities?: object;
  /** The server: a kind of it, or one that `startTestServer` has started. Default: `time-skipping`. */
  readonly server?: ServerKind | TestServer;
  /**
   * How the simulated service behaves: `{ settleAfter: "3 days", balances: { USD: "100.00" } }`. Its clock is that of the
   * server. Default: payouts settle after three seconds.
   */
  readonly simulator?: Omit<SimulatorOptions, "clock" | "host" | "port" | "stateFile">;
  /**
   * How the worker and the client of the test encode payloads and failures: that of your workers, such as
   * `encryptedDataConverter` of `@durable-payments/codec`. Default: not at all, whatever the environment says.
   */
  readonly dataConverter?: DataConverter;
  /** How long one wait of the test may take in real time, in milliseconds. Default: 10,000. */
  readonly waitLimitMs?: number;
}

/** How a run is started. */
export interface StartOptions {
  /** Default: one that no other run has. */
  readonly workflowId?: string;
  /** Who starts it, and so cannot approve it. Default: `the test`. */
  readonly startedBy?: string;
}

/** More of a fault than its name. */
export type FaultOptions = Omit<FaultOrder, "kind">;

/** A test: a server, a simulated service, and a worker of your workflows. */
export interface PaymentsTest extends AsyncDisposable {
  /** The simulated service: pay in, settle a payout, end an identity check. */
  readonly simulator: Simulator;
  /** A client of the Temporal server; its `result()` lets time be skipped, too. */
  readonly client: Client;
  /** The task queue of the worker: no other test has it. */
  readonly taskQueue: string;
  /** Starts a workflow, by its function or its name. */
  readonly start: <W extends Workflow>(
    workflow: W | string,
    args: Parameters<W>,
    options?: StartOptions,
  ) => Promise<PaymentsRun<W>>;
  /**
   * Starts a workflow, and awaits its end.
   *
   * @returns its result.
   * @throws WorkflowFailedError of the SDK where it fails; WaitedTooLong.
   */
  readonly run: <W extends Workflow>(
    workflow: W | string,
    args: Parameters<W>,
    options?: StartOptions,
  ) => Promise<WorkflowResultType<W>>;
  /**
   * Finds a run that something else has started, or will start: a child, by the workflow id that its parent gives it. Of
   * `runChild` that is the parent's, a slash and the step.
   *
   * @returns the run; its waits wait until it is started.
   */
  readonly runOf: <W extends Workflow = Workflow>(
    workflowId: string,
  ) => PaymentsRun<W, WorkflowHandle<W>>;
  /** Reads what the service holds: payouts, balances, cards, and how often each operation was asked for. */
  readonly ledger: () => Promise<Ledger>;
  /** Lets something go wrong with the next request: `fault("dropped", { operation: "createPayout" })`. */
  readonly fault: (kind: FaultKind, options?: FaultOptions) => Promise<void>;
  /** Lets the service be another one than its document's: `temperament({ listLagMs: 3_000 })`. */
  readonly temperament: (temperament: Temperament) => Promise<void>;
  /**
   * Lets the worker crash once the service has carried out the next request to an operation, before the worker has the
   * answer; another worker takes over. {@link dispose} rejects where that did not come to pass.
   */
  readonly crashAfter: (operation: OperationName) => Promise<void>;
  /** Ends the worker at once, and starts another one. */
  readonly restartWorker: () => Promise<void>;
  /** The time of the server and of the service, in milliseconds since 1970. */
  readonly now: () => Promise<number>;
  /** Lets so much time pass, in no time where the server skips it: `sleep("3 days")`. */
  readonly sleep: (duration: Duration) => Promise<void>;
  /**
   * Replays the history of every run of this test against the code as it is now.
   *
   * @param workflowsPath other code to replay them against, such as that of the next release.
   * @returns the workflow ids of the runs that were replayed.
   * @throws NotReplayable that shows the event of the history, and the line of the code, where the two differ.
   */
  readonly replay: (workflowsPath?: string) => Promise<ReadonlyArray<string>>;
  /**
   * Ends the worker and the service, and the server where the test has started it.
   *
   * @throws what went wrong meanwhile that no wait has shown.
   */
  readonly dispose: () => Promise<void>;
}

const NAMESPACE = "default";

const SETTINGS: Readonly<Record<keyof WorkerSettings, true>> = {
  approveAbove: true,
  inputs: true,
  maxAmounts: true,
  operations: true,
};

/** A limit that is misspelt would be none. */
const refuseUnknown = (settings: object): void => {
  const unknown = Object.keys(settings).find((name) => !Object.hasOwn(SETTINGS, name));
  if (unknown === undefined) return;
  const like = nearestName(unknown, Object.keys(SETTINGS));
  throw new TypeError(
    `createPaymentsTest has no option ${unknown}${like === undefined ? "" : ` (is it ${like}?)`}.`,
  );
};
const DEFAULT_WAIT_LIMIT_MS = 10_000;

/** A worker keeps its budget of sign-ins by the computer's clock, and must not need one for each hour that is skipped. */
const LONG_TOKEN = "36500 days";

const temporalOf = (
  { clock, environment }: TestServer,
  taskQueue: string,
  account: Pick<Simulator, "apiKey" | "clientId"> & { readonly baseUrl: string },
  dataConverter: DataConverter | undefined,
): Temporal => {
  const { address } = environment;
  const connection =
    dataConverter === undefined
      ? environment.connection
      : decodingConnection(environment.connection, dataConverter);
  const plugins = [paymentsPluginIn(hermetic(environment), account)];
  const client = new Client({
    connection,
    namespace: NAMESPACE,
    plugins,
    ...(dataConverter && { dataConverter }),
  });
  const { workflow } = client;
  const result = workflow.result.bind(workflow);
  workflow.result = async <W extends Workflow>(...asked: Parameters<typeof result>) => {
    let isOver = false;
    const ended: Promise<unknown> = result(...asked).finally(() => (isOver = true));
    await Promise.all([ended, clock.passUntil(async () => isOver)]);
    // As the SDK's own types it.
    return (await ended) as WorkflowResultType<W>;
  };
  return {
    client,
    connection,
    settings: { address, namespace: NAMESPACE, taskQueue, connectionOptions: {} },
  };
};

/**
 * Start what a test of payment workflows needs: a Temporal server that skips waiting, a simulated payment service on
 * the same clock, and a worker of your workflows. It works in any test runner; `@durable-payments/testing/vitest` starts
 * and ends it by itself.
 *
 * @param options your workflows, and what differs from the defaults.
 * @returns the test; end it by `dispose`.
 * @throws CannotStartServer where Temporal's server is missing: the message says what to do.
 * @example
 * ```ts
 * const payments = await createPaymentsTest({ workflowsPath: new URL("./workflows.ts", import.meta.url).href });
 * await payments.fault("dropped", { operation: "createPayout" });
 * await payments.run(payInvoice, [invoice]);
 * assert.equal((await payments.ledger()).payouts.length, 1);
 * await payments.dispose();
 * ```
 */
export const createPaymentsTest = async ({
  activities = {},
  dataConverter,
  server: given = "time-skipping",
  simulator: simulatorOptions,
  waitLimitMs = DEFAULT_WAIT_LIMIT_MS,
  workflowsPath = defaultWorkflows(),
  ...settings
}: PaymentsTestOptions = {}): Promise<PaymentsTest> => {
  refuseUnknown(settings);
  const own = typeof given === "string" ? await startTestServer(given) : undefined;
  // Where it is no kind, it is a server.
  const server = own ?? (given as TestServer);
  let leavesRunsOpen = false;
  const ends: Array<() => Promise<void>> = [
    async () => {
      if (own !== undefined) await own.dispose();
      else if (leavesRunsOpen && server.environment.supportsTimeSkipping) await server.renew();
    },
  ];
  const endAll = async (): Promise<void> => {
    const failures: Array<unknown> = [];
    for (const end of ends.splice(0).toReversed()) {
      await end().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };
  try {
    const { clock, environment } = server;
    const workflowBundle = await bundleOf(workflowsPath, "worker", dataConverter);
    const simulator = await startSimulator({
      ...(environment.supportsTimeSkipping && { tokenLifetime: LONG_TOKEN }),
      ...simulatorOptions,
      clock: clock.now,
    });
    ends.push(simulator.stop);
    const { apiKey, clientId, url: baseUrl } = simulator;
    const taskQueue = `payments-${randomUUID()}`;
    const account = { apiKey, clientId, baseUrl };
    const temporal = temporalOf(server, taskQueue, account, dataConverter);
    const folder = await mkdtemp(join(tmpdir(), "payments-test-"));
    ends.push(() => rm(folder, { recursive: true }));
    const startWorker = () =>
      startTestWorker({
        environment,
        namespace: NAMESPACE,
        taskQueue,
        workflowBundle,
        activities,
        dataConverter,
        settings: { ...account, ...settings, journal: `sqlite:${join(folder, "journal.sqlite")}` },
      });
    let worker = await startWorker();
    ends.push(
      () => worker.kill(),
      async () => {
        leavesRunsOpen = await endRuns(temporal.client, taskQueue);
      },
    );
    let restarted = Promise.resolve();
    // One after the other: a worker that starts while another one is ended would be left behind.
    const restartWorker = (): Promise<void> => {
      restarted = restarted.then(async () => {
        await worker.kill();
        worker = await startWorker();
      });
      return restarted;
    };
    const broken = Promise.withResolvers<never>();
    broken.promise.catch(() => undefined);
    const crashes = crashOn({ simulator, crash: restartWorker, failed: broken.reject });
    ends.push(crashes.end);

    const context = { temporal, clock, waitLimitMs, broken: broken.promise };
    const start: PaymentsTest["start"] = async <W extends Workflow>(
      workflow: W | string,
      args: Parameters<W>,
      { startedBy = "the test", workflowId = randomUUID() }: StartOptions = {},
    ) => {
      // The SDK's type wants `args` only where there are parameters; an empty list says the same.
      const options = {
        args,
        taskQueue,
        workflowId,
        memo: { startedBy },
      } as unknown as WorkflowStartOptions<W>;
      const handle = await temporal.client.workflow.start<W>(workflow, options);
      return paymentsRun<W, WorkflowHandleWithFirstExecutionRunId<W>>(context, handle);
    };

    return {
      simulator,
      client: temporal.client,
      taskQueue,
      start,
      run: async (...started) => (await start(...started)).result(),
      runOf: <W extends Workflow>(workflowId: string) =>
        paymentsRun<W, WorkflowHandle<W>>(
          context,
          temporal.client.workflow.getHandle<W>(workflowId),
        ),
      ledger: simulator.state,
      fault: (kind, options = {}) => simulator.addFault({ kind, ...options }),
      temperament: simulator.setTemperament,
      crashAfter: crashes.after,
      restartWorker,
      now: clock.now,
      sleep: clock.sleep,
      replay: async (path) =>
        replayRuns(workflowsPath, await historiesOf(temporal.client, taskQueue), path),
      dispose: endAll,
      [Symbol.asyncDispose]: endAll,
    };
  } catch (error) {
    await endAll();
    throw error;
  }
};
