import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { appArguments, checkout } from "../processes/apps.ts";
import { awaitReadyLine, describeExit, lastLines } from "../processes/await-ready.ts";
import { spawnProcess, type StartedProcess } from "../processes/spawn-process.ts";
import { Interrupted } from "../command/interruption.ts";
import type { Reporter } from "../command/progress.ts";
import { choosePort, type PortWish } from "./ports.ts";
import type { EndedPart, Ending, OptionalPart, RunningPart, Spawn } from "./running-part.ts";
import { withoutServiceVariables } from "./service-variables.ts";
import { prepareCluster, prepareDevServer } from "./prepare-temporal.ts";

const readyWithinMs = 60_000;

/** What every simulator signs in by (packages/simulator/README.md). */
const SIMULATOR_CREDENTIALS = { clientId: "simulator", apiKey: "simulator-key" } as const;

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
  /** The history shards of Temporal's server on PostgreSQL, which runs in the place of the dev server. */
  readonly clusterShards?: number;
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
  const endings: Ending[] = [];
  let keepLogs = false;
  const ending = new AbortController();
  const signal = AbortSignal.any([options.signal, ending.signal]);
  const spawn: Spawn = (name, command, args, env, { killedBy, ...where } = {}) => {
    signal.throwIfAborted();
    const started = spawnProcess(command, args, {
      name: `${name} (log: ${join(logFolder, `${name}.log`)})`,
      env: { ...withoutServiceVariables(), ...env },
      logFile: join(logFolder, `${name}.log`),
      ownGroup: true,
      ...where,
    });
    endings.push(() => started.kill(killedBy));
    return started;
  };
  // They end in reverse.
  const afterwards = (work: Ending) => void endings.unshift(work);
  try {
    return await Promise.race([
      whenAborted(options.signal),
      start(options, report, logFolder, spawn, afterwards).then(({ parts, stack }) =>
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
    await endAll(endings, ending);
    if (!keepLogs) await rm(logFolder, { recursive: true, force: true });
  }
};

const start = async (
  options: StackOptions,
  report: Reporter,
  logFolder: string,
  spawn: Spawn,
  afterwards: (work: Ending) => void,
): Promise<{ readonly parts: readonly RunningPart[]; readonly stack: Stack }> => {
  const { clusterShards } = options;
  // What is built takes minutes: first, before a port is chosen.
  const prepared =
    clusterShards === undefined
      ? await prepareDevServer(report)
      : await prepareCluster(clusterShards, report);
  const port = await choosePort(options.ports.temporal, report);
  const uiPort = await choosePort(options.ports.webUi, report);
  const simulatorPort = await choosePort(options.ports.simulator, report);
  const runs = (part: OptionalPart) => options.without?.has(part) !== true;
  const node = process.execPath;

  await mkdir(logFolder, { recursive: true });
  const { address, parts } = await report.during(
    "Starting the Temporal server",
    prepared({ spawn, port, uiPort, afterwards }),
  );

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
    PAYMENTS_LEDGER: `sqlite:${join(logFolder, "ledger.sqlite")}`,
  };
  if (runs("simulator")) {
    const args = ["--port", `${simulatorPort}`, "--state-file", ledgerFile, "--json"];
    const simulator = spawn("simulator", node, appArguments("simulator", args));
    parts.push({ part: "simulator", process: simulator });
    await report.during(
      "Starting the simulator of the payment service",
      awaitReadyLine(simulator, readyWithinMs),
    );
  }
  if (runs("worker")) {
    const env = { ...options.workerSettings, ...variables };
    const worker = spawn("worker", node, appArguments("worker", ["--json"]), env);
    parts.push({ part: "worker", process: worker });
    await report.during("Starting the worker", awaitReadyLine(worker, readyWithinMs));
  }
  const stack = {
    webUi,
    variables,
    logFolder,
    ledgerFile,
    processIds: Object.fromEntries(parts.map(({ part, process: { pid } }) => [part, pid])),
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
const whenOneEnds = async (
  parts: readonly RunningPart[],
  onEnded: (ended: EndedPart) => void,
): Promise<never> =>
  await new Promise((_, reject) => {
    for (const { process, ...part } of parts) {
      process.exited
        .then((exit) => {
          const what = `${process.name} ended ${describeExit(exit)}`;
          onEnded({ ...part, what, lastLines: lastLines(process) });
        })
        .catch(reject);
    }
  });

/** The last first: the worker drains while the server is still there. */
const endAll = async (endings: Ending[], ending: AbortController): Promise<void> => {
  ending.abort();
  for (const end of endings.splice(0).reverse()) await end();
};
