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

/** What every simulator signs in by (packages/simulator/README.md). */
const SIMULATOR_CREDENTIALS = { clientId: "simulator", apiKey: "simulator-key" } as const;

/** What a stack runs beside the Temporal server. */
export const OPTIONAL_PARTS = ["simulator", "worker"] as const;

/** One of them. */
export type OptionalPart = (typeof OPTIONAL_PARTS)[number];

/** A process of the stack that ended while the stack was in use. */
export interface EndedPart {
  readonly part: "temporal" | OptionalPart;
  /** How it ended, and where its log is. */
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
  /** Settings of the worker beside those of the stack. */
  readonly workerSettings?: NodeJS.ProcessEnv;
  /** What is done when a part ends; without it the stack fails. */
  readonly onEnded?: (ended: EndedPart, stack: Stack) => void;
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
  /** The process ids of the parts that run. */
  readonly processIds: Readonly<Partial<Record<EndedPart["part"], number>>>;
  /** Where the simulator keeps its ledger, so that one started later goes on with it. */
  readonly ledgerFile: string;
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
      start(options, report, logFolder, spawn).then(({ parts, stack }) =>
        Promise.race([
          use(stack),
          whenOneEnds(parts, (ended) => {
            // What ends the stack ends its parts.
            if (signal.aborted) return;
            if (options.onEnded) return options.onEnded(ended, stack);
            throw new StackFailed(`${ended.what}. Its last lines:\n${ended.lastLines}`);
          }),
        ]),
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

type Parts = Readonly<Partial<Record<EndedPart["part"], StartedProcess>>>;

const start = async (
  options: StackOptions,
  report: Reporter,
  logFolder: string,
  spawn: Spawn,
): Promise<{ readonly parts: Parts; readonly stack: Stack }> => {
  const { path: temporal } = await ensureServer(temporalCli, report);
  const port = await choosePort(options.ports.temporal, report);
  const uiPort = await choosePort(options.ports.webUi, report);
  const simulatorPort = await choosePort(options.ports.simulator, report);
  const runs = (part: OptionalPart) => options.without?.has(part) !== true;
  const node = process.execPath;

  await mkdir(logFolder, { recursive: true });
  const server = spawn("temporal", temporal, temporalServerArguments(port, uiPort));
  const address = `127.0.0.1:${port}`;
  await report.during("Starting the Temporal server", awaitTemporalServer(server, address));

  // Keeps the user's own Temporal profiles out of it; envconfig 1.24 cannot read an empty file.
  const configFile = join(logFolder, "temporal.toml");
  await writeFile(configFile, "[profile.default]\n");
  const ledgerFile = join(logFolder, "simulator-ledger.jsonl");
  const webUi = `http://127.0.0.1:${uiPort}`;
  const variables = {
    TEMPORAL_CONFIG_FILE: configFile,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: "default",
    TEMPORAL_UI_URL: webUi,
    PAYMENTS_TASK_QUEUE: "payments",
    PAYMENTS_BASE_URL: `http://127.0.0.1:${simulatorPort}`,
    PAYMENTS_CLIENT_ID: SIMULATOR_CREDENTIALS.clientId,
    PAYMENTS_API_KEY: SIMULATOR_CREDENTIALS.apiKey,
    // What was sent here is forgotten with the simulator.
    PAYMENTS_JOURNAL: `sqlite:${join(logFolder, "journal.sqlite")}`,
  };
  const parts: { -readonly [Part in keyof Parts]: Parts[Part] } = { temporal: server };
  if (runs("simulator")) {
    const args = ["--port", `${simulatorPort}`, "--state-file", ledgerFile, "--json"];
    parts.simulator = spawn("simulator", node, appArguments("simulator", args));
    await report.during(
      "Starting the simulator of the payment service",
      awaitReadyLine(parts.simulator, readyWithinMs),
    );
  }
  if (runs("worker")) {
    const env = { ...options.workerSettings, ...variables };
    parts.worker = spawn("worker", node, appArguments("worker", ["--json"]), env);
    await report.during("Starting the worker", awaitReadyLine(parts.worker, readyWithinMs));
  }
  const stack = {
    webUi,
    variables,
    logFolder,
    ledgerFile,
    processIds: Object.fromEntries(
      Object.entries(parts).map(([part, { pid }]): [string, number] => [part, pid]),
    ),
    spawn: (name: string, args: readonly string[]) => spawn(name, node, args, variables),
  };
  return { parts, stack };
};

const whenAborted = async (signal: AbortSignal): Promise<never> =>
  await new Promise((_, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });

/** Hands over each part that ends. Never fulfilled; rejected by what is thrown at the hand-over. */
const whenOneEnds = async (parts: Parts, onEnded: (ended: EndedPart) => void): Promise<never> =>
  await new Promise((_, reject) => {
    for (const part of ["temporal", ...OPTIONAL_PARTS] as const) {
      const one = parts[part];
      one?.exited
        .then((exit) => {
          const what = `${one.name} ended ${describeExit(exit)}`;
          onEnded({ part, what, lastLines: lastLines(one) });
        })
        .catch(reject);
    }
  });

/** The last first: the worker drains while the server is still there. */
const endAll = async (processes: StartedProcess[], ending: AbortController): Promise<void> => {
  ending.abort();
  for (const one of processes.splice(0).reverse()) await one.kill();
};
