import { defaultAssumptions } from "@durable-payments/client/effect";
import { openTextSeal, readDataConverter } from "@durable-payments/codec";
import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import type { Polling } from "@durable-payments/plugin";
import { paymentsPluginIn } from "@durable-payments/plugin/internal";
import { accountHash } from "@durable-payments/protocol";
import { type Simulator, type SimulatorOptions, startSimulator } from "@durable-payments/simulator";
import {
  createLocalEnvironment,
  makeKeyring,
  makeTestFolder,
  sharedBundle,
  workerVariables,
} from "@durable-payments/tools/testing";
import { paymentsBundler } from "@durable-payments/workflows/bundler-plugin";
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from "@temporalio/worker";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Connected } from "../../src/facts/connection/connections.ts";
import { connectTemporal } from "../../src/facts/connection/temporal.ts";

const TASK_QUEUE = "payments";
const WORKERS = 2;
const ASSUMPTIONS = { listLagSeconds: 0, clockSkewSeconds: 0 };

/** Later than the first look at a payout: each wait is ended by the tracker of its account. */
const SETTLE_AFTER_MS = 2_000;

const bundleOf = (file: string) =>
  sharedBundle(`operations-${file.replaceAll("/", "-")}`, () =>
    bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL(file, import.meta.url)),
      plugins: [paymentsBundler()],
      logger: new DefaultLogger("ERROR"),
    }),
  );

/**
 * A small deployment: Temporal's dev server, two accounts at a simulator each, of which one is named, a keyring, and two
 * workers as users make them.
 *
 * @param place of the ledger, as PAYMENTS_LEDGER names it; all share one in memory by default.
 * @param simulators further options of both simulators.
 * @param workflows file of the workflows, beside this one.
 */
export const startRealStack = async (
  place = "memory",
  simulators: SimulatorOptions = {},
  workflows = "workflows.ts",
) => {
  const settling = { settleAfter: SETTLE_AFTER_MS, ...simulators };
  const folder = makeTestFolder();
  const keyring = makeKeyring(folder.path);
  const seal = openTextSeal(keyring);
  const [first, home, eu] = await Promise.all([
    createLocalEnvironment(),
    startSimulator(settling),
    startSimulator({ ...settling, clientId: "client-eu", apiKey: "key-eu" }),
    bundleOf(workflows),
  ]);
  let environment = first;
  // Not while webpack keeps this process, and a proxy in it, from answering.
  const ledger = await openLedger(readLedgerPlace(place, ""), { seal });
  const access = ({ apiKey, clientId, url }: Simulator) => ({ baseUrl: url, clientId, apiKey });
  const settingsFile = join(folder.path, "settings.json");
  writeFileSync(
    settingsFile,
    JSON.stringify({ accounts: { eu: access(eu) }, assumptions: ASSUMPTIONS }),
  );
  let reserved = 0;
  const startWorker = async (file: string) => {
    const workflowBundle = await bundleOf(file);
    const polling = Promise.withResolvers<Polling>();
    const plugin = paymentsPluginIn(
      { environment: {}, skipsTime: false, ...(place === "memory" && { ledger }) },
      {
        ...access(home),
        accounts: { eu: access(eu) },
        keyring,
        ledger: place,
        requestTimeoutMs: 1_000,
        assumptions: ASSUMPTIONS,
        onReady: polling.resolve,
      },
    );
    // One connection takes one worker of a queue: each has its own, as in a process of its own.
    const connection = await NativeConnection.connect({ address: environment.address });
    const worker = await Worker.create({
      connection,
      taskQueue: TASK_QUEUE,
      activities: { reserve: async () => void (reserved += 1), pack: async () => undefined },
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
  const dataConverter = readDataConverter({ keyring }, "default");
  const account = accountHash(access(home));
  const connect = async () => {
    const settings = {
      address: environment.address,
      namespace: "default",
      taskQueue: TASK_QUEUE,
      connectionOptions: {},
      ...(dataConverter && { dataConverter }),
    };
    const temporal = await connectTemporal(settings);
    const operations: Connected = {
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
      assumptionsOf: () => defaultAssumptions,
    };
    return { temporal, operations };
  };
  const startWorkers = (file: string) =>
    Promise.all(Array.from({ length: WORKERS }, () => startWorker(file)));
  let ends = await startWorkers(workflows);
  let connected = await connect();
  const stopWorkers = async () => {
    await Promise.all(ends.map((end) => end()));
    ends = [];
  };
  const stopTemporal = async () => {
    await connected.temporal.close();
    await environment.teardown();
  };
  return {
    get operations() {
      return connected.operations;
    },
    /** The variables of a command of this deployment. */
    variables: () => ({
      ...folder.variables,
      ...workerVariables(environment, home),
      PAYMENTS_LEDGER: place,
      PAYMENTS_KEYRING: keyring,
      PAYMENTS_SETTINGS: settingsFile,
    }),
    stopWorkers,
    startWorkers: async (file = workflows) => {
      ends = await startWorkers(file);
    },
    /** Takes an empty database in the place of Temporal's, while no worker runs. */
    loseTemporal: async () => {
      await stopTemporal();
      environment = await createLocalEnvironment();
      connected = await connect();
    },
    home,
    eu,
    /** How often the activity of the test's own workflow ran. */
    reserved: () => reserved,
    async [Symbol.asyncDispose]() {
      await stopWorkers();
      await stopTemporal();
      await ledger.close();
      await Promise.all([home.stop(), eu.stop()]);
      folder.remove();
    },
  };
};
