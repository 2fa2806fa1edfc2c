import { messageOf } from "@durable-payments/api-core/values";
import { readDataConverter } from "@durable-payments/codec";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { appArguments, awaitReadyLine, spawnProcess } from "@durable-payments/tools/processes";
import type { Reporter } from "@durable-payments/tools/command";
import { choosePort, withoutServiceVariables } from "@durable-payments/tools/stack";
import type { ChaosOptions } from "../options.ts";
import type { BuiltApps } from "./build-apps.ts";
import { type Keyrings, makeKeyrings } from "../faults/keyring-faults.ts";
import { START_BALANCES } from "../plan/planned-run.ts";
import { type Account, ServiceReader } from "../operator/service-reader.ts";
import { createClusterServer } from "./cluster-server.ts";
import { createDevServer } from "./dev-server.ts";
import { SETTLE_AFTER_MS, VERIFY_AFTER_MS } from "./simulator-timing.ts";
import { SimulatorControl } from "./simulator-control.ts";
import { Starter } from "./starter-command.ts";
import { type Spawn, SupervisedProcess } from "./supervised-process.ts";
import type { TemporalServer } from "./temporal-server.ts";

/** The task queue of the workers. */
export const TASK_QUEUE = "payments";

/** Everything that runs during a chaos run, on free ports, with its files in one folder. */
export interface Environment {
  readonly server: TemporalServer;
  readonly simulator: SupervisedProcess;
  readonly workers: readonly [SupervisedProcess, SupervisedProcess];
  readonly client: Client;
  readonly connection: Connection;
  readonly control: SimulatorControl;
  /** The service as a person reads it. */
  readonly reader: ServiceReader;
  readonly starter: Starter;
  readonly account: Account;
  /** Undefined where nothing is encrypted. */
  readonly keyrings: Keyrings | undefined;
  readonly folder: string;
  /** End every process; the folder is removed unless `keepFiles` is set. */
  readonly end: (options: { readonly keepFiles: boolean }) => Promise<void>;
}

const READY_WITHIN_MS = 60_000;

/** Absence is certain within seconds: the same rule as in production, with a shorter time. */
const workerSettings = {
  PAYMENTS_REQUEST_TIMEOUT_MS: "2000",
  PAYMENTS_RETRY_BASE_MS: "50",
};

/** Start everything; where a part does not become ready, what was started is ended again. */
export const startEnvironment = async (
  options: ChaosOptions,
  apps: BuiltApps,
  report: Reporter,
): Promise<Environment> => {
  const simulatorPort = await choosePort({ option: "the simulator" }, report);
  const folder = await mkdtemp(join(tmpdir(), "durable-payments-chaos-"));
  const keyrings = options.encrypt ? await makeKeyrings(folder) : undefined;
  const encryption = (of: keyof Keyrings) => keyrings && { PAYMENTS_KEYRING: keyrings[of] };
  const node = process.execPath;

  const spawn: Spawn = (name, command, args, env, processOptions) =>
    spawnProcess(command, args, {
      name,
      cwd: folder,
      env: { ...withoutServiceVariables(), ...env },
      logFile: join(folder, `${name}.log`),
      ownGroup: true,
      ...processOptions,
    });

  const server = await (options.server === "dev"
    ? createDevServer(folder, spawn, report)
    : createClusterServer(folder, options.shards, spawn, report));
  const [address] = server.addresses;

  let account: Account = { clientId: "", apiKey: "" };
  const simulator = new SupervisedProcess({
    name: "the simulator",
    spawn: (start) =>
      spawn(
        `simulator-${start}`,
        node,
        appArguments("simulator", [
          "--json",
          `--port=${simulatorPort}`,
          `--state-file=${join(folder, "ledger.jsonl")}`,
          `--settle-after=${SETTLE_AFTER_MS / 1_000}`,
          `--verify-after=${VERIFY_AFTER_MS / 1_000}`,
          `--seed=${options.seed}`,
          `--temperament=${JSON.stringify(options.temperament.settings)}`,
          ...Object.entries(START_BALANCES).map(
            ([currency, amount]) => `--balance=${currency}=${amount}`,
          ),
        ]),
      ),
    ready: async (started) => {
      const { apiKey, clientId } = await awaitReadyLine(started, READY_WITHIN_MS);
      account = { clientId: String(clientId), apiKey: String(apiKey) };
    },
  });

  const variables = () => ({
    ...workerSettings,
    PAYMENTS_ASSUMPTIONS: JSON.stringify(options.temperament.assumptions),
    CHAOS_BUNDLE: apps.bundle,
    TEMPORAL_CONFIG_FILE: join(folder, "temporal.toml"),
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: "default",
    PAYMENTS_TASK_QUEUE: TASK_QUEUE,
    PAYMENTS_BASE_URL: `http://127.0.0.1:${simulatorPort}`,
    PAYMENTS_CLIENT_ID: account.clientId,
    PAYMENTS_API_KEY: account.apiKey,
    PAYMENTS_JOURNAL: `sqlite:${join(folder, "journal.sqlite")}`,
  });
  const workerArguments = [
    "--conditions=@durable-payments/source",
    options.worker ?? apps.worker,
    "--json",
  ];
  const worker = (name: string, temporalAddress: string) =>
    new SupervisedProcess({
      name,
      spawn: (start) =>
        spawn(`${name}-${start}`, node, workerArguments, {
          ...variables(),
          ...encryption("ofWorkers"),
          TEMPORAL_ADDRESS: temporalAddress,
        }),
      ready: (started) => awaitReadyLine(started, READY_WITHIN_MS),
    });
  const workers = [
    worker("worker-a", address),
    worker("worker-b", server.addresses.at(-1) ?? address),
  ] as const;

  const connection = Connection.lazy({
    address,
    // After a restart of the server the next call goes to the new one at once.
    channelArgs: { "grpc.max_reconnect_backoff_ms": 500, "grpc.initial_reconnect_backoff_ms": 100 },
  });
  const end: Environment["end"] = async ({ keepFiles }) => {
    await connection.close();
    await Promise.all([...workers, simulator].map((one) => one.end()));
    await server.end();
    if (!keepFiles) await rm(folder, { recursive: true, force: true });
  };

  try {
    // Without the user's own Temporal profiles; envconfig 1.24 cannot read an empty file.
    await writeFile(join(folder, "temporal.toml"), "[profile.default]\n");
    await report.during(
      "Starting the Temporal server and the simulator",
      Promise.all([server.start(), simulator.start()]),
    );
    await report.during("Starting two workers", Promise.all(workers.map((one) => one.start())));
  } catch (error) {
    await end({ keepFiles: true });
    throw new Error(`${messageOf(error)}\nThe logs are in ${folder}.`, { cause: error });
  }
  const url = `http://127.0.0.1:${simulatorPort}`;
  const dataConverter = readDataConverter({ ...encryption("ofTools") }, "default");
  return {
    server,
    simulator,
    workers,
    client: new Client({ connection, ...(dataConverter && { dataConverter }) }),
    connection,
    control: new SimulatorControl(url),
    reader: new ServiceReader(url, () => account),
    starter: new Starter(apps.starter, () => ({
      ...process.env,
      ...withoutServiceVariables(),
      ...variables(),
      ...encryption("ofTools"),
    })),
    account,
    keyrings,
    folder,
    end,
  };
};
