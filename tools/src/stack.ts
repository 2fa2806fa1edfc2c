/*
 * Starts a whole stack on this machine: Temporal, two simulated services, and a worker.
 *
 * It must never reach a real service: the user's own addresses and credentials are taken out of its environment.
 */
import { Connection } from "@temporalio/client";
import getPort from "get-port";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Reporter } from "./command.ts";
import {
  appArguments,
  awaitReadyLine,
  checkout,
  describeExit,
  NO_PROFILES,
  spawnProcess,
  type StartedProcess,
  untilReady,
} from "./processes.ts";
import { ensureServer, temporalCli } from "./servers.ts";

const HOST = "127.0.0.1";
const ASK_WITHIN_MS = 1_000;

/** Returns the arguments of the Temporal CLI that start the dev server, in memory, with its Web UI. */
export const temporalServerArguments = (port: number, uiPort: number): Array<string> =>
  `server start-dev --ip ${HOST} --port ${port} --ui-port ${uiPort}`.split(" ");

/**
 * Waits until a Temporal server answers for its namespace.
 *
 * @throws Error if it ends before, or takes longer than two minutes
 */
export const awaitTemporalServer = async (
  server: StartedProcess,
  address: string,
): Promise<void> => {
  const connection = Connection.lazy({ address });
  const { workflowService } = connection;
  // It listens before it serves. A server that cannot listen ends, which is reported.
  const answers = () =>
    connection
      .withDeadline(Date.now() + ASK_WITHIN_MS, () =>
        workflowService.describeNamespace({ namespace: "default" }),
      )
      .then(
        () => true,
        () => false,
      );
  await untilReady(server, answers).finally(() => connection.close());
};

/** Returns the preferred port if it is free on this machine, else any free one. */
export const choosePort = (preferred?: number): Promise<number> =>
  getPort({ host: HOST, reserve: true, ...(preferred !== undefined && { port: preferred }) });

/**
 * Takes the user's own addresses and credentials out of the environment of the processes of a local stack: it must never
 * reach another Temporal or another payment service.
 */
export const withoutServiceVariables = (
  env: NodeJS.ProcessEnv = process.env,
): Record<string, undefined> =>
  Object.fromEntries(
    Object.keys(env)
      .filter((name) => /^(?:TEMPORAL|PAYMENTS)_/.test(name))
      .map((name) => [name, undefined]),
  );

/** Settings that lead to somebody's payment service, or to a record of its payments. */
const ADDRESSES = /^PAYMENTS_(?:BASE_URL|CLIENT_ID|API_KEY|API_KEY_FILE|LEDGER|SETTINGS)$/;

/** Returns the user's own settings of a worker, such as limits, without those that lead to a payment service. */
export const workerSettings = (env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => name.startsWith("PAYMENTS_") && !ADDRESSES.test(name)),
  );

const DEV_ENVIRONMENT = join(checkout, ".local", "dev.env");

/**
 * Lets `./durable-payments` of this checkout find the latest stack: tools/bootstrap.mjs reads the file.
 *
 * @returns a function that takes it back
 */
export const announceDevStack = (
  variables: Readonly<Record<string, string>>,
  file: string = DEV_ENVIRONMENT,
): (() => void) => {
  const lines = Object.entries({ ...variables, DURABLE_PAYMENTS_DEV_PROCESS: `${process.pid}` });
  const text = lines.map(([name, value]) => `${name}=${value}\n`).join("");
  writeFileSync(file, text, { mode: 0o600 });
  return () => {
    // Unless a later stack has taken its place.
    if (readFileSync(file, "utf8") === text) rmSync(file);
  };
};

/** A process of a stack; `simulatorEu` is the service of the account `eu`. */
export type Part = "temporal" | "simulator" | "simulatorEu" | "worker";

/** How a local stack is started. */
export interface StackOptions {
  /** Names the folder of the log files. */
  readonly name: string;
  /** Ports that are taken if they are free. */
  readonly ports?: Readonly<Record<"temporal" | "webUi" | "simulator" | "simulatorEu", number>>;
  /** Settings of the worker in addition to those of the stack. */
  readonly workerSettings?: NodeJS.ProcessEnv;
  /** Called when a part ends before the stack does, with how it ended and the path of its log. */
  readonly onEnded?: (part: Part, what: string) => void;
  /** Gives up starting. */
  readonly signal?: AbortSignal;
}

/** A Temporal server, a simulator for each of two accounts, and a worker, all running on this machine. */
export type Stack = Awaited<ReturnType<typeof startStack>>;

/** Starts a process with a log of its own. */
export type Spawn = ReturnType<typeof spawnIn>;

/**
 * Returns a function that starts processes which no terminal ends, and which reach no service of the user.
 *
 * @param logFolder receives a log of each, by its name
 */
export const spawnIn =
  (logFolder: string, cwd?: string) =>
  (
    name: string,
    command: string,
    args: ReadonlyArray<string>,
    env?: NodeJS.ProcessEnv,
  ): StartedProcess => {
    const logFile = join(logFolder, `${name}.log`);
    return spawnProcess(command, args, {
      name: `${name} (log: ${logFile})`,
      env: { ...withoutServiceVariables(), ...env },
      logFile,
      ownGroup: true,
      ...(cwd !== undefined && { cwd }),
    });
  };

/** The credentials of the second account, at a simulator of its own. */
const EU = { clientId: "simulator-eu", apiKey: "simulator-eu-key" };

/** Starts the stack. If a part does not become ready, the others are ended; the log files are kept. */
export const startStack = async (options: StackOptions, report: Reporter) => {
  const { onEnded, signal } = options;
  const logFolder = join(checkout, ".local", `${options.name}-${process.pid}`);
  const started: Array<StartedProcess> = [];
  const ending = new AbortController();
  const spawnLogged = spawnIn(logFolder);
  const spawn: Spawn = (...of) => {
    signal?.throwIfAborted();
    const process = spawnLogged(...of);
    started.push(process);
    return process;
  };
  const endAll = async () => {
    ending.abort();
    // The last first: the worker drains while the server is still there.
    for (const process of started.toReversed()) await process.kill();
  };
  const end = async () => {
    await endAll();
    await rm(logFolder, { recursive: true, force: true });
  };
  try {
    const aborted = new Promise<never>((_, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
    const stack = await Promise.race([startParts(options, report, logFolder, spawn), aborted]);
    for (const [part, process] of Object.entries(stack.parts) as Array<[Part, StartedProcess]>) {
      void process.exited.then((exit) => {
        if (!ending.signal.aborted) onEnded?.(part, `${process.name} ended ${describeExit(exit)}`);
      });
    }
    return {
      ...stack,
      /** Ends every process of the stack, and removes the log files. */
      end,
    };
  } catch (error) {
    await (signal?.aborted === true ? end() : endAll());
    throw error;
  }
};

const startParts = async (
  { ports, workerSettings: settings }: StackOptions,
  report: Reporter,
  logFolder: string,
  spawn: Spawn,
) => {
  // A server that has to be built takes minutes: before a port is chosen.
  const { path } = await ensureServer(temporalCli, report);
  const port = await choosePort(ports?.temporal);
  const uiPort = await choosePort(ports?.webUi);
  const simulatorPort = await choosePort(ports?.simulator);
  const euPort = await choosePort(ports?.simulatorEu);
  const node = process.execPath;
  const address = `${HOST}:${port}`;
  const webUi = `http://${HOST}:${uiPort}`;

  await mkdir(logFolder, { recursive: true, mode: 0o700 });
  const temporal = spawn("temporal", path, temporalServerArguments(port, uiPort));
  await report.during("Starting the Temporal server", awaitTemporalServer(temporal, address));

  const eu = `http://${HOST}:${euPort}`;
  const settingsPath = join(logFolder, "settings.json");
  const accounts = { eu: { ...EU, baseUrl: eu } };
  await writeFile(settingsPath, JSON.stringify({ accounts }), { mode: 0o600 });
  const variables = {
    TEMPORAL_CONFIG_FILE: NO_PROFILES,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: "default",
    TEMPORAL_UI_URL: webUi,
    PAYMENTS_SETTINGS: settingsPath,
    PAYMENTS_TASK_QUEUE: "payments",
    PAYMENTS_BASE_URL: `http://${HOST}:${simulatorPort}`,
    // The defaults of the simulator (packages/simulator/README.md).
    PAYMENTS_CLIENT_ID: "simulator",
    PAYMENTS_API_KEY: "simulator-key",
    // It ends with the simulator, whose payments it records.
    PAYMENTS_LEDGER: `sqlite:${join(logFolder, "ledger.sqlite")}`,
  };
  const simulate = (name: string, ...args: ReadonlyArray<string>) =>
    spawn(name, node, appArguments("simulator", ["--json", ...args]));
  const { apiKey, clientId } = EU;
  const asEu = ["--client-id", clientId, "--api-key", apiKey];
  const others = {
    simulator: simulate("simulator", "--port", `${simulatorPort}`),
    simulatorEu: simulate("simulator-eu", "--port", `${euPort}`, ...asEu),
    worker: spawn("worker", node, appArguments("worker", ["--json"]), {
      ...settings,
      ...variables,
    }),
  };
  const ready = Promise.all(Object.values(others).map(awaitReadyLine));
  await report.during("Starting the simulators of the payment service, and the worker", ready);
  const parts: Readonly<Record<Part, StartedProcess>> = { temporal, ...others };
  return {
    /** The address of the simulator of the account `eu`. */
    eu,
    /** The variables by which the starter, or another worker, reaches the stack. */
    variables,
    logFolder,
    parts,
    /** Runs one more process with the variables of the stack; it ends with the stack. */
    spawn: (name: string, more: ReadonlyArray<string>) => spawn(name, node, more, variables),
  };
};
