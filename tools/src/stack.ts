import { Connection } from "@temporalio/client";
import getPort from "get-port";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { BadOption, Interrupted, type Reporter } from "./command.ts";
import {
  appArguments,
  awaitReadyLine,
  checkout,
  describeExit,
  lastLines,
  spawnProcess,
  type StartedProcess,
  untilReady,
} from "./processes.ts";
import { ensureServer, temporalCli } from "./servers.ts";

export { ensureServer, temporalCli, testServer } from "./servers.ts";

/** Returns the arguments of the Temporal CLI that start the dev server, in memory, with its Web UI. */
export const temporalServerArguments = (port: number, uiPort: number): Array<string> => [
  "server",
  "start-dev",
  "--ip",
  HOST,
  "--port",
  `${port}`,
  "--ui-port",
  `${uiPort}`,
];

const HOST = "127.0.0.1";
const READY_WITHIN_MS = 30_000;
const ASK_WITHIN_MS = 1_000;

/**
 * Waits until a Temporal server answers for its namespace.
 *
 * @throws ProcessNotReady if it ends before, or takes longer than 30 seconds
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
  await untilReady(server, answers, READY_WITHIN_MS).finally(() => connection.close());
};

/** A port as an option of a command, and the choice without the option. */
export interface PortWish {
  /** The option as the user writes it, for the error. */
  readonly option: string;
  /** The port that the user asked for. */
  readonly wanted?: number;
  /** Tried first if the user asked for none. */
  readonly preferred?: number;
}

/**
 * Returns the port that was asked for, else the preferred one if it is free, else any free one.
 *
 * @throws Error if the port that was asked for is in use
 */
export const choosePort = async (
  { option, preferred, wanted }: PortWish,
  report: Reporter,
): Promise<number> => {
  const first = wanted ?? preferred;
  const port = await getPort({
    host: HOST,
    reserve: true,
    ...(first !== undefined && { port: first }),
  });
  if (first === undefined || port === first) return port;
  if (wanted !== undefined) {
    throw new Error(
      `Port ${wanted} (${option}) is in use on this machine: end what uses it, name another port, or leave ${option} out.`,
    );
  }
  report.line(`Port ${first} is in use on this machine; taking ${port} (${option} names another).`);
  return port;
};

/**
 * Reads a port from the command line.
 *
 * @throws BadOption naming the option if the text is not a port
 */
export const parsePort = (option: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new BadOption(`${option} must be a port, a whole number from 1 to 65535; got "${text}".`);
};

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
const ADDRESSES = /^PAYMENTS_(?:BASE_URL|CLIENT_ID|API_KEY|API_KEY_FILE|LEDGER)$/;

/** Returns the user's own settings of a worker, such as limits, without those that lead to a payment service. */
export const workerSettings = (env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => name.startsWith("PAYMENTS_") && !ADDRESSES.test(name)),
  );

const DEV_ENVIRONMENT = join(checkout, ".local", "dev.env");

/**
 * Lets `./starter` of this checkout find the running stack: tools/bootstrap.mjs reads the file.
 *
 * @returns a function that takes it back; undefined if another stack of this checkout is running
 */
export const announceDevStack = async (
  variables: Readonly<Record<string, string>>,
  file: string = DEV_ENVIRONMENT,
): Promise<(() => Promise<void>) | undefined> => {
  if (existsSync(file) && isRunning(parseEnv(readFileSync(file, "utf8")))) return undefined;
  const lines = Object.entries({ ...variables, DURABLE_PAYMENTS_DEV_PROCESS: `${process.pid}` });
  const text = lines.map(([name, value]) => `${name}=${value}\n`).join("");
  await writeFile(file, text, { mode: 0o600 });
  return () => rm(file, { force: true });
};

const isRunning = ({ DURABLE_PAYMENTS_DEV_PROCESS: owner }: NodeJS.Dict<string>): boolean => {
  try {
    return process.kill(Number(owner), 0);
  } catch {
    // It was killed, and left its file.
    return false;
  }
};

/** The processes of a stack that can be left out. */
export const OPTIONAL_PARTS = ["simulator", "worker"] as const;

/** One of them. */
export type OptionalPart = (typeof OPTIONAL_PARTS)[number];

/** A process of a stack. */
export type Part = "temporal" | OptionalPart;

/** A process of the stack that ended while the stack was in use. */
export interface EndedPart {
  readonly part: Part;
  /** How it ended, and the path of its log. */
  readonly what: string;
  /** The last lines that it printed. */
  readonly lastLines: string;
}

/** How a local stack is started. */
export interface StackOptions {
  /** Names the folder of the log files. */
  readonly name: string;
  /** Parts that are not started; their addresses and credentials are the same. */
  readonly without?: ReadonlySet<OptionalPart>;
  /** Settings of the worker in addition to those of the stack. */
  readonly workerSettings?: NodeJS.ProcessEnv;
  /** Called when a part ends; without it the stack fails. */
  readonly onEnded?: (ended: EndedPart, stack: Stack) => void;
  readonly ports: Readonly<Record<"temporal" | "webUi" | "simulator", PortWish>>;
  /** Ends the stack, and the work with it. */
  readonly signal: AbortSignal;
}

/** A Temporal server, the simulator and a worker, all running on this machine. */
export interface Stack {
  readonly webUi: string;
  /** The variables by which the starter, or another worker, reaches the stack. */
  readonly variables: Readonly<Record<string, string>>;
  readonly logFolder: string;
  /** The processes of the parts that run. */
  readonly parts: Readonly<Partial<Record<Part, StartedProcess>>>;
  /** Where the simulator keeps its ledger, so that one started later continues with it. */
  readonly ledgerFile: string;
  /** Runs one more process with the variables of the stack; it ends with the stack. */
  readonly spawn: (name: string, args: ReadonlyArray<string>) => StartedProcess;
}

/**
 * Starts the stack, runs `use`, and ends every process of the stack in any case. The log files are kept if something
 * went wrong.
 */
export const withStack = async <A>(
  options: StackOptions,
  report: Reporter,
  use: (stack: Stack) => Promise<A>,
): Promise<A> => {
  const logFolder = join(checkout, ".local", `${options.name}-${process.pid}`);
  const started: Array<StartedProcess> = [];
  const ending = new AbortController();
  const signal = AbortSignal.any([options.signal, ending.signal]);
  const spawn: Spawn = (name, command, args, env) => {
    signal.throwIfAborted();
    const logFile = join(logFolder, `${name}.log`);
    const process = spawnProcess(command, args, {
      name: `${name} (log: ${logFile})`,
      env: { ...withoutServiceVariables(), ...env },
      logFile,
      ownGroup: true,
    });
    started.push(process);
    return process;
  };
  const { promise: failed, reject } = Promise.withResolvers<never>();
  options.signal.addEventListener("abort", () => reject(options.signal.reason));
  const run = async (): Promise<A> => {
    const stack = await startParts(options, report, logFolder, spawn);
    for (const [part, process] of Object.entries(stack.parts) as Array<[Part, StartedProcess]>) {
      void process.exited.then((exit) => {
        // A part that ends with the stack is not news.
        if (signal.aborted) return;
        const what = `${process.name} ended ${describeExit(exit)}`;
        const ended = { part, what, lastLines: lastLines(process) };
        if (options.onEnded) options.onEnded(ended, stack);
        else reject(new Error(`${what}. Its last lines:\n${ended.lastLines}`));
      });
    }
    return use(stack);
  };
  let keepLogs = false;
  try {
    options.signal.throwIfAborted();
    return await Promise.race([run(), failed]);
  } catch (error) {
    keepLogs = !(error instanceof Interrupted);
    throw error;
  } finally {
    ending.abort();
    // The last first: the worker drains while the server is still there.
    for (const process of started.toReversed()) await process.kill();
    if (!keepLogs) await rm(logFolder, { recursive: true, force: true });
  }
};

type Spawn = (
  name: string,
  command: string,
  args: ReadonlyArray<string>,
  env?: NodeJS.ProcessEnv,
) => StartedProcess;

const startParts = async (
  { ports, without, workerSettings: settings }: StackOptions,
  report: Reporter,
  logFolder: string,
  spawn: Spawn,
): Promise<Stack> => {
  // A server that has to be built takes minutes: before a port is chosen.
  const { path } = await ensureServer(temporalCli, report);
  const port = await choosePort(ports.temporal, report);
  const uiPort = await choosePort(ports.webUi, report);
  const simulatorPort = await choosePort(ports.simulator, report);
  const node = process.execPath;
  const address = `${HOST}:${port}`;
  const webUi = `http://${HOST}:${uiPort}`;

  await mkdir(logFolder, { recursive: true });
  const temporal = spawn("temporal", path, temporalServerArguments(port, uiPort));
  await report.during("Starting the Temporal server", awaitTemporalServer(temporal, address));

  // Keeps the user's own Temporal profiles out of it; envconfig 1.24 cannot read an empty file.
  const configFile = join(logFolder, "temporal.toml");
  await writeFile(configFile, "[profile.default]\n");
  const ledgerFile = join(logFolder, "simulator-ledger.jsonl");
  const variables = {
    TEMPORAL_CONFIG_FILE: configFile,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: "default",
    TEMPORAL_UI_URL: webUi,
    PAYMENTS_TASK_QUEUE: "payments",
    PAYMENTS_BASE_URL: `http://${HOST}:${simulatorPort}`,
    // The defaults of the simulator (packages/simulator/README.md).
    PAYMENTS_CLIENT_ID: "simulator",
    PAYMENTS_API_KEY: "simulator-key",
    // It ends with the simulator, whose payments it records.
    PAYMENTS_LEDGER: `sqlite:${join(logFolder, "ledger.sqlite")}`,
  };
  const parts: Partial<Record<Part, StartedProcess>> = { temporal };
  if (without?.has("simulator") !== true) {
    const args = ["--port", `${simulatorPort}`, "--state-file", ledgerFile, "--json"];
    parts.simulator = spawn("simulator", node, appArguments("simulator", args));
    const ready = awaitReadyLine(parts.simulator);
    await report.during("Starting the simulator of the payment service", ready);
  }
  if (without?.has("worker") !== true) {
    const env = { ...settings, ...variables };
    parts.worker = spawn("worker", node, appArguments("worker", ["--json"]), env);
    await report.during("Starting the worker", awaitReadyLine(parts.worker));
  }
  return {
    webUi,
    variables,
    logFolder,
    ledgerFile,
    parts,
    spawn: (name, args) => spawn(name, node, args, variables),
  };
};
