import { defaultAssumptions } from "@durable-payments/client/effect";
import type { OperationName } from "@durable-payments/client/effect";
import { decodingConnection, type Connected } from "@durable-payments/control/connection";
import type { Payments } from "@durable-payments/control/payments";
import { openPaymentsOn } from "@durable-payments/control/payments/internal";
import { startPaymentAt } from "@durable-payments/control/start";
import type { Ledger } from "@durable-payments/ledger";
import type { Duration } from "@durable-payments/protocol";
import type {
  FaultKind,
  FaultOrder,
  ServiceBooks,
  Simulator,
  Temperament,
} from "@durable-payments/simulator";
import { Client, type Workflow } from "@temporalio/client";
import type { DataConverter, WorkflowResultType } from "@temporalio/common";
import { randomUUID } from "node:crypto";
import { defaultWorkflows } from "./bundles.ts";
import { type PaymentsRun, paymentsRun } from "./payments-run.ts";
import { replayRuns, testRuns } from "./replay.ts";
import {
  accessOf,
  checkOptions,
  hashOf,
  type PaymentsTestOptions,
  TestBench,
} from "./test-bench.ts";
import { pause, type ServerKind, startTestServer, type TestServer } from "./test-server.ts";

/** How a run is started. */
export interface StartOptions {
  /** Default: a new one. */
  readonly workflowId?: string;
  /** Name of the person who starts the run, and so cannot approve it. Default: `the test`. */
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
   * @throws WorkflowFailedError of the SDK if it fails; WaitedTooLong.
   */
  readonly run: <W extends Workflow>(
    workflow: W | string,
    args: Parameters<W>,
    options?: StartOptions,
  ) => Promise<WorkflowResultType<W>>;
  /**
   * Finds a run that something else has started, or will start: a child, by the workflow id that its parent gives it.
   *
   * @returns the run; its waits wait until it is started.
   */
  readonly runOf: <W extends Workflow = Workflow>(workflowId: string) => PaymentsRun<W>;
  /** The simulated service of each named account, by the names in the option `accounts`. */
  readonly accounts: Readonly<Record<string, Simulator>>;
  /** Reads the records of the service: payouts, balances, cards, and the number of requests of each operation. */
  readonly service: () => Promise<ServiceBooks>;
  /**
   * Opens the payments of this test, as `openPayments` of `durable-payments/start` opens those of an installation: to pay,
   * list, cancel, pause and decide as your server does. Closed with the test.
   *
   * @throws InvalidInput if an assumption of the test is invalid.
   */
  readonly open: () => Payments;
  /** The ledger of this test, for functions of `durable-payments/start`. */
  readonly ledger: Ledger;
  /**
   * Breaks the next request: `fault("dropped", { operation: "createPayout" })`. {@link dispose}
   * rejects if that did not happen.
   */
  readonly fault: (kind: FaultKind, options?: FaultOptions) => Promise<void>;
  /** Changes behaviour that the service's documentation leaves open: `temperament({ listLagMs: 3_000 })`. */
  readonly temperament: (temperament: Temperament) => Promise<void>;
  /**
   * Stops the worker once the service has executed the next request to an operation, before the worker has the
   * response; another worker takes over. {@link dispose} rejects if that did not happen.
   */
  readonly crashAfter: (operation: OperationName) => Promise<void>;
  /** Ends the worker at once, and starts another one. */
  readonly restartWorker: () => Promise<void>;
  /** The time of the server and of the service, in milliseconds since 1970. */
  readonly now: () => Promise<number>;
  /** Advances the clock of the server and of the service, at once if the server skips time: `sleep("3 days")`. */
  readonly sleep: (duration: Duration) => Promise<void>;
  /**
   * Replays the history of every run of this test against the code as it is now.
   *
   * @param workflowsPath other code to replay them against, such as the next release.
   * @returns the workflow ids of the runs that were replayed.
   * @throws NotReplayable that shows the event of the history, and the line of the code, where the two differ.
   */
  readonly replay: (workflowsPath?: string) => Promise<ReadonlyArray<string>>;
  /**
   * Ends the worker and the service, and the server if the test has started it.
   *
   * @throws any earlier error that no wait has shown.
   */
  readonly dispose: () => Promise<void>;
}

const NAMESPACE = "default";

const DEFAULT_WAIT_LIMIT_MS = 10_000;

/** Interval of the checks for the request after which the worker crashes. */
const LOOK_EVERY_MS = 5;

/** Returns a client whose `result()` lets the server's time pass, and which reads histories decoded. */
const clientOf = (
  { clock, environment: { connection } }: TestServer,
  dataConverter: DataConverter | undefined,
): Client => {
  const client = new Client({
    namespace: NAMESPACE,
    ...(dataConverter === undefined
      ? { connection }
      : { connection: decodingConnection(connection, dataConverter), dataConverter }),
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
  return client;
};

/**
 * Starts what a test of payment workflows needs: a Temporal server that skips waiting, a simulated payment service on
 * the same clock, and a worker of your workflows. It works in any test runner; `usePaymentsTest` starts
 * and ends it for you.
 *
 * @param options your workflows, and what differs from the defaults.
 * @returns the test; end it by `dispose`.
 * @throws CannotStartServer if Temporal's server is missing: the message says what to do.
 * @example
 * ```ts
 * const payments = await createPaymentsTest({ workflowsPath: new URL("./workflows.ts", import.meta.url).href });
 * await payments.fault("dropped", { operation: "createPayout" });
 * await payments.run(payInvoice, [invoice]);
 * assert.equal((await payments.service()).payouts.length, 1);
 * await payments.dispose();
 * ```
 */
export const createPaymentsTest = async (
  options: PaymentsTestOptions = {},
): Promise<PaymentsTest> => {
  checkOptions(options);
  const given = typeof options.server === "object" ? options.server : undefined;
  const server = given ?? (await startTestServer(options.server as ServerKind | undefined));
  const bench = new TestBench({ ...options, server });
  return beginTest(
    bench,
    () => options.waitLimitMs ?? DEFAULT_WAIT_LIMIT_MS,
    async () => {
      await bench.dispose();
      if (given === undefined) await server.dispose();
    },
  );
};

/**
 * Begins a test on a bench.
 *
 * @param waitLimitMs the longest time of a wait that begins now.
 * @param release ends what belongs to the test alone.
 */
export const beginTest = async (
  bench: TestBench,
  waitLimitMs: () => number,
  release = async (): Promise<void> => {},
): Promise<PaymentsTest> => {
  const ends: Array<() => Promise<void>> = [release];
  const endAll = async (): Promise<void> => {
    const failures: Array<unknown> = [];
    for (const end of ends.splice(0).toReversed()) {
      await end().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };
  try {
    await bench.begin();
    const { ledger, options, simulator, taskQueue } = bench;
    const { dataConverter, server, workflowsPath = defaultWorkflows() } = options;
    const { clock } = server;
    const client = clientOf(server, dataConverter);
    const runs = testRuns(client);
    ends.push(async () => {
      // Activities of open runs would keep the time of a server that skips waiting for all tests to come.
      const wasOpen = await runs.end();
      if (!server.environment.supportsTimeSkipping) return bench.endWithTrackers(client);
      if (!wasOpen) return;
      await bench.end();
      await server.renew();
    });
    let restarted = Promise.resolve();
    // One after the other: a worker that starts while another one is ended would be left behind.
    const restartWorker = (): Promise<void> => {
      restarted = restarted.then(async () => {
        await bench.end();
        await bench.startWorker();
      });
      return restarted;
    };
    const broken = Promise.withResolvers<never>();
    broken.promise.catch(() => undefined);
    const ordered: Array<{ readonly what: string; readonly hasHappened: () => Promise<boolean> }> =
      [];
    const order = async (what: string, fault: FaultOrder) => {
      const index = (await simulator.faults()).length;
      const hasHappened = async () => ((await simulator.faults())[index]?.fired ?? 0) > 0;
      await simulator.addFault(fault);
      ordered.push({ what, hasHappened });
      return hasHappened;
    };
    ends.push(async () => {
      for (const { hasHappened, what } of ordered) {
        if (await hasHappened()) continue;
        throw new Error(
          `${what} did not happen, so the test proves nothing. Order it before the run that sends the request, and wait for the run.`,
        );
      }
    });
    let isOver = false;
    const crashes: Array<Promise<void>> = [];
    /** The service has executed the request, and withholds the response until the worker is stopped. */
    const crashOnce = async (hasHappened: () => Promise<boolean>): Promise<void> => {
      while (!(await hasHappened())) {
        if (isOver) return;
        await pause(LOOK_EVERY_MS);
      }
      await restartWorker();
    };
    ends.push(async () => {
      isOver = true;
      await Promise.all(crashes);
    });

    // All that a tool of `durable-payments/start` opens, on this test's own servers.
    const operations: Connected = {
      client,
      connection: server.environment.connection,
      settings: {
        address: server.environment.address,
        namespace: NAMESPACE,
        taskQueue,
        connectionOptions: {},
        ...(dataConverter && { dataConverter }),
      },
      ledger,
      namespace: NAMESPACE,
      taskQueue,
      account: hashOf(simulator),
      accounts: [
        { name: undefined, hash: hashOf(simulator) },
        ...Object.entries(bench.accounts).map(([name, of]) => ({ name, hash: hashOf(of) })),
      ],
      assumptionsOf: () => defaultAssumptions,
    };
    const context = {
      operations,
      clock,
      waitLimitMs,
      broken: broken.promise,
      note: runs.note,
    };
    const open = (): Payments => {
      const { address } = server.environment;
      const { assumptions } = options;
      const temporal = { address, namespace: NAMESPACE, tls: false };
      const opened = openPaymentsOn(ledger, {
        ...accessOf(simulator),
        accounts: bench.accountAccess,
        taskQueue,
        temporal: { ...temporal, ...(dataConverter && { dataConverter }) },
        ...(assumptions && { assumptions }),
      });
      ends.push(() => opened[Symbol.asyncDispose]());
      return opened;
    };
    const start: PaymentsTest["start"] = async <W extends Workflow>(
      workflow: W | string,
      args: Parameters<W>,
      { startedBy = "the test", workflowId = randomUUID() }: StartOptions = {},
    ) => {
      const handle = await startPaymentAt<W>(await clock.now(), client, workflow, {
        workflowId,
        startedBy,
        args,
        taskQueue,
        ledger,
      });
      runs.note(workflowId, handle.firstExecutionRunId);
      return paymentsRun<W>(context, handle);
    };

    return {
      simulator,
      client,
      taskQueue,
      start,
      open,
      run: async (...started) => (await start(...started)).result(),
      runOf: <W extends Workflow>(workflowId: string) =>
        paymentsRun<W>(context, client.workflow.getHandle<W>(workflowId)),
      accounts: bench.accounts,
      service: simulator.state,
      ledger,
      fault: async (kind, more = {}) => {
        const { operation = "any operation" } = more;
        await order(`The fault ${kind} of ${operation}`, { kind, ...more });
      },
      temperament: simulator.setTemperament,
      crashAfter: async (operation) => {
        const hasHappened = await order(`The crash after ${operation}`, {
          kind: "stalled",
          operation,
        });
        const crash = crashOnce(hasHappened);
        crash.catch(broken.reject);
        crashes.push(crash);
      },
      restartWorker,
      now: clock.now,
      sleep: clock.sleep,
      replay: async (path = workflowsPath) => replayRuns(path, await runs.histories()),
      dispose: endAll,
      [Symbol.asyncDispose]: endAll,
    };
  } catch (error) {
    await endAll();
    throw error;
  }
};
