import { defaultAssumptions } from "@durable-payments/client/effect";
import { isRecord, messageOf } from "@durable-payments/client/values";
import type { Connected, ConnectionSettings } from "@durable-payments/control/connection";
import { Connections, temporalSettings } from "@durable-payments/control/connection";
import { ConnectionFailed } from "@durable-payments/control/errors";
import { accountHash } from "@durable-payments/protocol/account";
import { PaymentsPlugin } from "@durable-payments/plugin";
import type { Reporter } from "@durable-payments/tools/command";
import { appArguments, NO_PROFILES } from "@durable-payments/tools/processes";
import { spawnIn } from "@durable-payments/tools/stack";
import { makeKeyring, workerVariables } from "@durable-payments/tools/testing";
import { isGrpcServiceError, ServiceError } from "@temporalio/client";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { delay } from "../delay.ts";
import type { ChaosOptions } from "../options.ts";
import { ACCOUNTS } from "../plan/planned-run.ts";
import { startIndependent } from "../service/independent.ts";
import { type Service, WATCHED_FOR } from "../service/service.ts";
import { startReceiver } from "../service/event-receiver.ts";
import { startSimulatorProcess } from "../service/simulator.ts";
import type { Tally } from "../tally.ts";
import { startLedgerServer } from "./ledger-server.ts";
import { supervise } from "./supervised-process.ts";
import { createTemporalServer } from "./temporal.ts";

/** The task queue of the workers. */
export const TASK_QUEUE = "payments";

/** Everything that runs during a campaign, on free ports, with its files in one folder. */
export type Environment = Awaited<ReturnType<typeof startEnvironment>>;

/** Whether a server, or a ledger, cannot be reached now: the call is repeated. */
const isTransient = (error: unknown): boolean =>
  error instanceof ConnectionFailed || error instanceof ServiceError || isGrpcServiceError(error);

const REPEAT_AFTER_MS = 300;

/** The same rules as in production, with shorter times. */
const FAST = { requestTimeoutMs: 2_000, retryBaseMs: 50, watchCompletedFor: WATCHED_FOR };

const execute = promisify(execFile);

/** A list of all runs, in characters. */
const MOST_OUTPUT = 10_000_000;

const workerFile = (name: string) => fileURLToPath(new URL(`../worker/${name}`, import.meta.url));

/** Bundles the workflows of the project, and `payTwice`. */
const bundleWorkflows = async (file: string, keyring: string): Promise<void> => {
  const { code } = await bundleWorkflowCode({
    workflowsPath: workerFile("pay-twice.ts"),
    plugins: [new PaymentsPlugin({ keyring })],
    logger: new DefaultLogger("WARN"),
  });
  await writeFile(file, code);
};

/** Starts everything; if a part does not become ready, the others are ended again. */
export const startEnvironment = async (options: ChaosOptions, tally: Tally, report: Reporter) => {
  const folder = await mkdtemp(join(tmpdir(), "durable-payments-chaos-"));
  const ledgerFile = join(folder, "ledger.sqlite");
  const spawn = spawnIn(folder, folder);
  const temporal = await createTemporalServer(folder, spawn, report);
  /** The last are ended first. */
  const ends = [temporal.process.end];
  /** Ends every process; the folder is removed unless its files are kept. */
  const end = async (keepFiles: boolean): Promise<void> => {
    for (const endOne of ends.toReversed()) await endOne();
    if (!keepFiles) await rm(folder, { recursive: true, force: true });
  };
  const ending = <A extends { readonly end: () => Promise<void> }>(started: A): A => {
    ends.push(started.end);
    return started;
  };

  try {
    const bundle = join(folder, "workflow-bundle.js");
    const keyring = makeKeyring(folder);
    const startService = async (account: string | undefined, index: number): Promise<Service> => {
      const seed = options.seed + index;
      return options.service === "independent"
        ? ending(await startIndependent(seed, tally, account))
        : ending(await startSimulatorProcess(folder, seed, spawn, account));
    };
    const startServer = async () =>
      options.ledger === "postgres" ? ending(await startLedgerServer(folder)) : undefined;
    const starting = Promise.all([
      Promise.all(ACCOUNTS.map(startService)),
      startServer(),
      temporal.process.start(),
      bundleWorkflows(bundle, keyring),
    ]);
    const [services, ledgerServer] = await report.during("Starting the servers", starting);
    const serviceOf = ({ account }: Pick<Service, "account">): Service => {
      const found = services.find((one) => one.account === account);
      if (found === undefined) throw new Error(`No service of the account ${account}`);
      return found;
    };
    const service = serviceOf({ account: undefined });
    const { assumptions, clientId } = service;
    const accounts = Object.fromEntries(
      services.flatMap(({ account, apiKey, clientId: id, url: baseUrl }) =>
        account === undefined ? [] : [[account, { baseUrl, clientId: id, apiKey }]],
      ),
    );
    const receiver = ending(await startReceiver(options.seed, tally));
    const notify = { url: receiver.url, secret: receiver.secret, intervalSeconds: 1 };
    const settingsFile = join(folder, "settings.json");
    await writeFile(settingsFile, JSON.stringify({ ...FAST, assumptions, accounts, notify }));
    const variables = {
      PAYMENTS_SETTINGS: settingsFile,
      PAYMENTS_KEYRING: keyring,
      CHAOS_BUNDLE: bundle,
      TEMPORAL_CONFIG_FILE: NO_PROFILES,
      ...workerVariables(temporal, service),
      PAYMENTS_LEDGER: ledgerServer?.address ?? `sqlite:${ledgerFile}`,
      PAYMENTS_HEALTH_ADDRESS: "0",
    };
    const args = ["--conditions=@durable-payments/source", workerFile("chaos-worker.ts")];
    const worker = (name: string) =>
      ending(
        supervise(name, (start) => spawn(`${name}-${start}`, process.execPath, args, variables)),
      );
    const workers = [worker("worker-a"), worker("worker-b")] as const;
    await report.during("Starting two workers", Promise.all(workers.map((one) => one.start())));

    const inUse = new Set<Promise<unknown>>();
    let shut = Promise.resolve();
    const settings: ConnectionSettings = {
      temporal: () => temporalSettings(variables),
      ledger: { ledger: variables.PAYMENTS_LEDGER, clientId, keyring },
      accounts: services.map(({ account: name, clientId: id, url: baseUrl }) => ({
        name,
        hash: accountHash({ clientId: id, baseUrl }),
      })),
      assumptionsOf: () => defaultAssumptions,
    };
    const connected = async <A>(use: (connections: Connections) => Promise<A>): Promise<A> => {
      await using connections = new Connections(settings);
      return await use(connections);
    };
    /**
     * Calls actions of the project as its tools do, over a new connection each time.
     *
     * @throws the error of `use`, unless something is down: then it is done again until the signal is aborted.
     * @returns the result of `use`; undefined if the signal was aborted before.
     */
    const operate = async <A>(
      use: (operations: Connected) => Promise<A>,
      signal: AbortSignal,
    ): Promise<A | undefined> => {
      while (!signal.aborted) {
        // It may be shut again meanwhile.
        for (let awaited; awaited !== shut;) await (awaited = shut);
        const using = connected((connections) => connections.both(use));
        inUse.add(using);
        try {
          return await using.finally(() => inUse.delete(using));
        } catch (error) {
          if (!isTransient(error)) throw error;
          await delay(REPEAT_AFTER_MS, signal);
        }
      }
      return undefined;
    };
    return {
      temporal,
      /** The services of the accounts, the unnamed account first. */
      services,
      simulators: services.flatMap(({ simulator }) => simulator ?? []),
      /** The webhook that receives the events. */
      receiver,
      /** The accounts as the ledger knows them; the unnamed one first. */
      accounts: settings.accounts ?? [],
      /** Returns the service that an account pays by. */
      serviceOf,
      workers,
      /** File of the payments ledger, unless it is in PostgreSQL. */
      ledgerFile,
      /** The server of a ledger in PostgreSQL. */
      ledgerServer,
      folder,
      operate,
      /** Uses the ledger alone, as the tools do that need no Temporal, also within `withoutTools`. */
      withLedger: <A>(use: (opened: Pick<Connected, "ledger">) => Promise<A>): Promise<A> =>
        connected((connections) => connections.ledger(use)),
      /** Runs the command line as a person does. @returns its standard output */
      starter: async (...args: ReadonlyArray<string>): Promise<string> => {
        const env = { ...process.env, ...variables };
        const options = { env, maxBuffer: MOST_OUTPUT };
        const ended = execute(process.execPath, appArguments("starter", args), options);
        // The overview ends with 1 while a check fails, such as that of a worker that was killed.
        const { stdout } = await ended.catch((error: unknown) => {
          if (isRecord(error) && error["code"] === 1 && typeof error["stdout"] === "string")
            return { stdout: error["stdout"] };
          throw error;
        });
        return stdout;
      },
      /** Does something while no tool has the ledger open. */
      withoutTools: (change: () => Promise<void>) =>
        (shut = Promise.allSettled(inUse).then(change)),
      end,
    };
  } catch (error) {
    await end(true);
    throw new Error(`${messageOf(error)}\nThe logs are in ${folder}.`, { cause: error });
  }
};
