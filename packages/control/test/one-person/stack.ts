import { defaultAssumptions } from "@durable-payments/client/effect";
import { createClient } from "@durable-payments/client";
import { type Amounts, openLedger, readLedgerPlace } from "@durable-payments/ledger";
import type { Polling } from "@durable-payments/plugin";
import { paymentsPluginIn } from "@durable-payments/plugin/internal";
import { accountHash } from "@durable-payments/protocol";
import { startSimulator } from "@durable-payments/simulator";
import {
  createLocalEnvironment,
  makeTestFolder,
  sharedBundle,
} from "@durable-payments/tools/testing";
import { paymentsBundler } from "@durable-payments/workflows/bundler-plugin";
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from "@temporalio/worker";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import type { Connected } from "../../src/facts/connection/connections.ts";
import { connectTemporal } from "../../src/facts/connection/temporal.ts";

const TASK_QUEUE = "payments";

/** The queue of the attacker's own workflows: the payments' workers do not know it. */
export const OWN_QUEUE = "own";

/** A second person approves more than this, and whatever is paid in another currency. */
export const POLICY = { EUR: "100.00" } as const;

/** A payout with this in its reference has no answer and is listed without its key: a person is asked about its outcome. */
export const LOST = "lost";

/** Rewrites answers of the service about payouts that are {@link LOST}. */
const lose = (operation: string, body: unknown): unknown => {
  if (!/createPayout|listPayouts/u.test(operation)) return body;
  const isLost = (value: unknown): value is object =>
    typeof value === "object" &&
    value !== null &&
    Object.values(value).some((text) => typeof text === "string" && text.endsWith(LOST));
  const rewritten: unknown = JSON.parse(JSON.stringify(body), (_, value: unknown) =>
    isLost(value)
      ? operation === "createPayout"
        ? {}
        : { ...value, unique_request_id: undefined }
      : value,
  );
  return rewritten;
};

const bundle = () =>
  sharedBundle("one-person", () =>
    bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL("own-workflows.ts", import.meta.url)),
      plugins: [paymentsBundler()],
      logger: new DefaultLogger("ERROR"),
    }),
  );

/** The deployment that is attacked. */
export type Stack = Awaited<ReturnType<typeof startStack>>;

/**
 * Starts Temporal, a service, a ledger in a file, a worker without settings, one that sets the policy, and a worker of the
 * attacker's own, which has workflows and no activity.
 */
export const startStack = async () => {
  const folder = makeTestFolder();
  const file = join(folder.path, "ledger.sqlite");
  const [environment, home, workflowBundle] = await Promise.all([
    createLocalEnvironment(),
    startSimulator({
      balances: { EUR: "10000000.00", USD: "10000000.00" },
      settleAfter: 500,
      rewrite: lose,
    }),
    bundle(),
  ]);
  const place = `sqlite:${file}`;
  const ledger = await openLedger(readLedgerPlace(place, ""));
  const access = { baseUrl: home.url, clientId: home.clientId, apiKey: home.apiKey };
  const account = accountHash(access);
  const service = createClient(access);
  const ends: Array<() => Promise<void>> = [];
  const run = async (make: (connection: NativeConnection) => Promise<Worker>) => {
    const connection = await NativeConnection.connect({ address: environment.address });
    const worker = await make(connection);
    const running = worker.run();
    ends.push(async () => {
      worker.shutdown();
      await running;
      await connection.close();
    });
    return running;
  };
  /** Starts a worker of payments, which may have thresholds of its own. */
  const startWorker = async (approveAbove?: Amounts) => {
    const polling = Promise.withResolvers<Polling>();
    const plugin = paymentsPluginIn(
      { environment: {}, skipsTime: false, ledger },
      {
        ...access,
        ledger: place,
        ...(approveAbove && { approveAbove }),
        requestTimeoutMs: 2_000,
        assumptions: { listLagSeconds: 0, clockSkewSeconds: 0 },
        onReady: polling.resolve,
      },
    );
    const running = run((connection) =>
      Worker.create({
        connection,
        taskQueue: TASK_QUEUE,
        workflowBundle,
        plugins: [plugin],
        // At the end, files and attempts are under way.
        shutdownGraceTime: "1 second",
      }),
    );
    await Promise.race([polling.promise, running]);
  };
  const limits = { maxAmounts: null, approveAbove: POLICY };
  await ledger.setLimits(account, limits, { by: "grace", how: "--by", reason: "the policy" });
  await startWorker();
  await startWorker(POLICY);
  void run((connection) =>
    Worker.create({ connection, taskQueue: OWN_QUEUE, workflowBundle }),
  ).catch(() => undefined);
  const settings = {
    address: environment.address,
    namespace: "default",
    taskQueue: TASK_QUEUE,
    connectionOptions: {},
  };
  const temporal = await connectTemporal(settings);
  const operations: Connected = {
    ...temporal,
    settings,
    ledger,
    namespace: "default",
    taskQueue: TASK_QUEUE,
    account,
    accounts: [{ name: undefined, hash: account }],
    assumptionsOf: () => defaultAssumptions,
  };
  return {
    operations,
    account,
    home,
    /** The service, with its own key: only the rig, and what nobody in the table has. */
    service,
    folder: folder.path,
    startWorker,
    /** Changes a column of the ledger by SQL. */
    sql: (statement: string, ...values: ReadonlyArray<string | number>): number => {
      const database = new DatabaseSync(file, { timeout: 10_000 });
      // The triggers of the feed call it.
      database.function("ledger_now", () => Date.now());
      try {
        return Number(database.prepare(statement).run(...values).changes);
      } finally {
        database.close();
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(ends.map((end) => end()));
      await Promise.all([temporal.close(), service.close()]);
      await ledger.close();
      await home.stop();
      await environment.teardown();
      folder.remove();
    },
  };
};
