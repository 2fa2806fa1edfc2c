import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { appArguments, checkout } from "../processes/apps.ts";
import { awaitReadyLine, describeExit, lastLines } from "../processes/await-ready.ts";
import { spawnProcess, type StartedProcess } from "../processes/spawn-process.ts";
import { Interrupted } from "../command/interruption.ts";
import type { Reporter } from "../command/progress.ts";
import { ensureServer } from "../servers/ensure-server.ts";
import { temporalCli } from "../servers/temporal-servers.ts";
import { choosePort, type PortWish } from "./ports.ts";
import { withoutServiceVariables } from "./service-variables.ts";
import { awaitTemporalServer, temporalServerArguments } from "./temporal-server.ts";

const readyWithinMs = 60_000;

export interface StackOptions {
  /** Names the folder of the log files. */
  readonly name: string;
  readonly ports: Readonly<Record<"temporal" | "webUi" | "simulator", PortWish>>;
  /** Ends the stack, and the work with it. */
  readonly signal: AbortSignal;
}

/** A Temporal dev server, the simulator and a worker, all running on this machine. */
export interface Stack {
  readonly webUi: string;
  /** The variables by which the starter, or another worker, reaches the stack. */
  readonly variables: Readonly<Record<string, string>>;
  readonly logFolder: string;
  /** Runs one more process beside the stack, with its variables; it ends with the stack. */
  readonly spawn: (name: string, args: readonly string[]) => StartedProcess;
}

/** A process of the stack ended while the stack was in use. */
class StackFailed extends Error {
  override readonly name = "StackFailed";
}

/**
 * Starts the stack, runs `use`, and ends every process of the stack, whatever happens. The log files
 * are kept when something went wrong.
 */
export const withStack = async <A>(
  options: StackOptions,
  report: Reporter,
  use: (stack: Stack) => Promise<A>,
): Promise<A> => {
  const logFolder = join(checkout, ".local", `${options.name}-${process.pid}`);
  const processes: StartedProcess[] = [];
  let keepLogs = false;
  const ending = new AbortController();
  const signal = AbortSignal.any([options.signal, ending.signal]);
  const spawn: Spawn = (name, command, args, env) => {
    signal.throwIfAborted();
    const started = spawnProcess(command, args, {
      name: `${name} (log: ${join(logFolder, `${name}.log`)})`,
      env: { ...withoutServiceVariables(), ...env },
      logFile: join(logFolder, `${name}.log`),
      ownGroup: true,
    });
    processes.push(started);
    return started;
  };
  try {
    return await Promise.race([
      whenAborted(options.signal),
      start(options, report, logFolder, spawn).then((stack) =>
        Promise.race([use(stack), whenOneEnds(processes.slice(0, 3))]),
      ),
    ]);
  } catch (error) {
    keepLogs = !(error instanceof Interrupted);
    throw error;
  } finally {
    await endAll(processes, ending);
    if (!keepLogs) await rm(logFolder, { recursive: true, force: true });
  }
};

type Spawn = (
  name: string,
  command: string,
  args: readonly string[],
  env?: NodeJS.ProcessEnv,
) => StartedProcess;

const start = async (
  options: StackOptions,
  report: Reporter,
  logFolder: string,
  spawn: Spawn,
): Promise<Stack> => {
  const { path: temporal } = await ensureServer(temporalCli, report);
  const port = await choosePort(options.ports.temporal, report);
  const uiPort = await choosePort(options.ports.webUi, report);
  const simulatorPort = await choosePort(options.ports.simulator, report);

  await mkdir(logFolder, { recursive: true });
  const server = spawn("temporal", temporal, temporalServerArguments(port, uiPort));
  const address = `127.0.0.1:${port}`;
  await report.during("Starting the Temporal server", awaitTemporalServer(server, address));

  const node = process.execPath;
  const simulator = spawn(
    "simulator",
    node,
    appArguments("simulator", ["--port", `${simulatorPort}`, "--json"]),
  );
  const service = await report.during(
    "Starting the simulator of the payment service",
    awaitReadyLine(simulator, readyWithinMs),
  );

  // Keeps the user's own Temporal profiles out of it; envconfig 1.24 cannot read an empty file.
  const configFile = join(logFolder, "temporal.toml");
  await writeFile(configFile, "[profile.default]\n");
  const webUi = `http://127.0.0.1:${uiPort}`;
  const variables = {
    TEMPORAL_CONFIG_FILE: configFile,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: "default",
    TEMPORAL_UI_URL: webUi,
    PAYMENTS_TASK_QUEUE: "payments",
    PAYMENTS_BASE_URL: String(service["url"]),
    PAYMENTS_CLIENT_ID: String(service["clientId"]),
    PAYMENTS_API_KEY: String(service["apiKey"]),
    // What was sent here is forgotten with the simulator.
    PAYMENTS_JOURNAL: `sqlite:${join(logFolder, "journal.sqlite")}`,
  };
  const worker = spawn("worker", node, appArguments("worker", ["--json"]), variables);
  await report.during("Starting the worker", awaitReadyLine(worker, readyWithinMs));
  return {
    webUi,
    variables,
    logFolder,
    spawn: (name, args) => spawn(name, node, args, variables),
  };
};

const whenAborted = async (signal: AbortSignal): Promise<never> =>
  await new Promise((_, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });

const whenOneEnds = async (processes: readonly StartedProcess[]): Promise<never> =>
  await Promise.race(
    processes.map(async (one) => {
      const exit = await one.exited;
      throw new StackFailed(
        `${one.name} ended ${describeExit(exit)}. Its last lines:\n${lastLines(one)}`,
      );
    }),
  );

/** The last first: the worker drains while the server is still there. */
const endAll = async (processes: StartedProcess[], ending: AbortController): Promise<void> => {
  ending.abort();
  for (const one of processes.splice(0).reverse()) await one.kill();
};
