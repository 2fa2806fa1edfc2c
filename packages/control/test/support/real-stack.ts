import { openTextSeal, readDataConverter } from "@durable-payments/codec";
import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import type { Polling } from "@durable-payments/plugin";
import { paymentsPluginIn } from "@durable-payments/plugin/internal";
import { accountHash } from "@durable-payments/protocol";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import {
  createLocalEnvironment,
  makeKeyring,
  makeTestFolder,
  sharedBundle,
} from "@durable-payments/tools/testing";
import { paymentsBundler } from "@durable-payments/workflows/bundler-plugin";
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from "@temporalio/worker";
import { fileURLToPath } from "node:url";
import type { Operations } from "../../src/facts/connection/operations.ts";
import { connectTemporal } from "../../src/facts/connection/temporal.ts";

const TASK_QUEUE = "payments";
const WORKERS = 2;

/** Later than the first look at a payout: each wait is ended by the tracker of its account. */
const SETTLE_AFTER_MS = 2_000;

const bundle = () =>
  sharedBundle("operations", () =>
    bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL("workflows.ts", import.meta.url)),
      plugins: [paymentsBundler()],
      logger: new DefaultLogger("ERROR"),
    }),
  );

/**
 * A small deployment: Temporal's dev server, two accounts at a simulator each, of which one is named, a keyring, and two
 * workers as users make them.
 *
 * @param place of the ledger, as PAYMENTS_LEDGER names it; all share one in memory by default.
 */
export const startRealStack = async (place = "memory") => {
  const folder = makeTestFolder();
  const keyring = makeKeyring(folder.path);
  const seal = openTextSeal(keyring);
  const [environment, home, eu, workflowBundle] = await Promise.all([
    createLocalEnvironment(),
    startSimulator({ settleAfter: SETTLE_AFTER_MS }),
    startSimulator({ settleAfter: SETTLE_AFTER_MS, clientId: "client-eu", apiKey: "key-eu" }),
    bundle(),
  ]);
  // Not while webpack keeps this process, and a proxy in it, from answering.
  const ledger = await openLedger(readLedgerPlace(place, ""), { seal });
  const access = ({ apiKey, clientId, url }: Simulator) => ({ baseUrl: url, clientId, apiKey });
  let reserved = 0;
  const startWorker = async () => {
    const polling = Promise.withResolvers<Polling>();
    const plugin = paymentsPluginIn(
      { environment: {}, skipsTime: false, ...(place === "memory" && { ledger }) },
      {
        ...access(home),
        accounts: { eu: access(eu) },
        keyring,
        ledger: place,
        requestTimeoutMs: 1_000,
        assumptions: { listLagSeconds: 0, clockSkewSeconds: 0 },
        onReady: polling.resolve,
      },
    );
    // One connection takes one worker of a queue: each has its own, as in a process of its own.
    const connection = await NativeConnection.connect({ address: environment.address });
    const worker = await Worker.create({
      connection,
      taskQueue: TASK_QUEUE,
      activities: { reserve: async () => void (reserved += 1) },
      workflowBundle,
      plugins: [plugin],
    });
    const running = worker.run();
    await Promise.race([polling.promise, running]);
    return async () => {
      worker.shutdown();
      await running;
      await connection.close();
    };
  };
  const ends = await Promise.all(Array.from({ length: WORKERS }, startWorker));
  const dataConverter = readDataConverter({ keyring }, "default");
  const settings = {
    address: environment.address,
    namespace: "default",
    taskQueue: TASK_QUEUE,
    connectionOptions: {},
    ...(dataConverter && { dataConverter }),
  };
  const temporal = await connectTemporal(settings);
  const account = accountHash(access(home));
  const operations: Operations = {
    ...temporal,
    settings,
    ledger,
    namespace: "default",
    taskQueue: TASK_QUEUE,
    account,
    accounts: [
      { name: undefined, hash: account },
      { name: "eu", hash: accountHash(access(eu)) },
    ],
  };
  return {
    operations,
    home,
    eu,
    /** How often the activity of the test's own workflow ran. */
    reserved: () => reserved,
    async [Symbol.asyncDispose]() {
      await Promise.all(ends.map((end) => end()));
      await temporal.close();
      await ledger.close();
      await Promise.all([home.stop(), eu.stop()]);
      await environment.teardown();
      folder.remove();
    },
  };
};
