import { ConnectionFailed } from "@durable-payments/control/errors";
import { isGrpcServiceError, ServiceError } from "@temporalio/client";
import { messageOf } from "@durable-payments/api-core/values";
import type { Operations } from "@durable-payments/control/connection";
import { temporalSettings, withLedger, withOperations } from "@durable-payments/control/connection";
import type { Reporter } from "@durable-payments/tools/command";
import { awaitReadyLine, spawnProcess } from "@durable-payments/tools/processes";
import { withoutServiceVariables, type Spawn } from "@durable-payments/tools/stack";
import * as Result from "effect/Result";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeKeyring, workerVariables } from "@durable-payments/tools/testing";
import { fileURLToPath } from "node:url";
import { PaymentsPlugin } from "@durable-payments/plugin";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { delay, until } from "../delay.ts";
import type { ChaosOptions } from "../options.ts";
import { ACCOUNTS } from "../plan/planned-run.ts";
import { startIndependent } from "../service/independent.ts";
import type { Service } from "../service/service.ts";
import { startSimulatorProcess } from "../service/simulator.ts";
import type { Tally } from "../tally.ts";
import { type LedgerServer, startLedgerServer } from "./ledger-server.ts";
import { SupervisedProcess } from "./supervised-process.ts";
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
const FAST = { requestTimeoutMs: 2_000, retryBaseMs: 50 };

/** Lets tools in together, and keeps them out while the ledger's file is replaced. */
const makeGate = () => {
  let inside = 0;
  let isShut = false;
  return {
    through: async <A>(use: () => Promise<A>): Promise<A> => {
      await until(() => !isShut, undefined, 20);
      inside += 1;
      try {
        return await use();
      } finally {
        inside -= 1;
      }
    },
    alone: async (change: () => Promise<void>): Promise<void> => {
      isShut = true;
      try {
        await until(() => inside === 0, undefined, 20);
        await change();
      } finally {
        isShut = false;
      }
    },
  };
};

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

  const spawn: Spawn = (name, command, args, env) =>
    spawnProcess(command, args, {
      name,
      cwd: folder,
      env: { ...withoutServiceVariables(), ...env },
      logFile: join(folder, `${name}.log`),
      ownGroup: true,
    });

  const temporal = await createTemporalServer(folder, spawn, report);
  const services: Array<Service> = [];
  const started: { server?: LedgerServer; workers: ReadonlyArray<SupervisedProcess> } = {
    workers: [],
  };
  const end = async ({ keepFiles }: { readonly keepFiles: boolean }): Promise<void> => {
    await Promise.all(started.workers.map((one) => one.end()));
    await Promise.all([temporal.process.end(), ...services.map((one) => one.end())]);
    await started.server?.end();
    if (!keepFiles) await rm(folder, { recursive: true, force: true });
  };

  try {
    // Without the user's own Temporal profiles; envconfig 1.24 cannot read an empty file.
    await writeFile(join(folder, "temporal.toml"), "[profile.default]\n");
    const startServices = async () => {
      for (const [index, account] of ACCOUNTS.entries()) {
        const seed = options.seed + index;
        services.push(
          options.service === "independent"
            ? await startIndependent(seed, tally, account)
            : await startSimulatorProcess(folder, seed, spawn, account),
        );
      }
    };
    const startServer = async () => {
      if (options.ledger === "postgres") started.server = await startLedgerServer(folder);
    };
    const bundle = join(folder, "workflow-bundle.js");
    const keyring = makeKeyring(folder);
    await report.during(
      "Starting the servers",
      Promise.all([
        startServices(),
        startServer(),
        temporal.process.start(),
        bundleWorkflows(bundle, keyring),
      ]),
    );
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
    const settingsFile = join(folder, "settings.json");
    await writeFile(settingsFile, JSON.stringify({ ...FAST, assumptions, accounts }));
    const variables = {
      PAYMENTS_SETTINGS: settingsFile,
      PAYMENTS_KEYRING: keyring,
      CHAOS_BUNDLE: bundle,
      TEMPORAL_CONFIG_FILE: join(folder, "temporal.toml"),
      ...workerVariables(temporal, service),
      PAYMENTS_LEDGER: started.server?.address ?? `sqlite:${ledgerFile}`,
      PAYMENTS_HEALTH_ADDRESS: "0",
    };
    const worker = (name: string) =>
      new SupervisedProcess({
        name,
        spawn: (start) =>
          spawn(
            `${name}-${start}`,
            process.execPath,
            ["--conditions=@durable-payments/source", workerFile("chaos-worker.ts")],
            variables,
          ),
        ready: awaitReadyLine,
      });
    const workers = [worker("worker-a"), worker("worker-b")] as const;
    started.workers = workers;
    await report.during("Starting two workers", Promise.all(workers.map((one) => one.start())));

    const gate = makeGate();
    const settings: Parameters<typeof withOperations>[0] = {
      temporal: () => temporalSettings(variables),
      ledger: { ledger: variables.PAYMENTS_LEDGER, clientId, keyring },
      accounts: services.map(({ account: name, clientId: id, url: baseUrl }) => ({
        name,
        service: Result.succeed({ clientId: id, baseUrl }),
      })),
    };
    return {
      temporal,
      /** Those of the accounts, the unnamed one first. */
      services,
      /** Returns the service that an account pays by. */
      serviceOf,
      workers,
      /** File of the payments ledger, unless it is in PostgreSQL. */
      ledgerFile,
      /** The server of a ledger in PostgreSQL. */
      ledgerServer: started.server,
      folder,
      /**
       * Calls operations of the project as its tools do, over a new connection each time.
       *
       * @throws the error of `use`, unless something is down: then it is done again until the signal is aborted.
       * @returns the result of `use`; undefined if the signal was aborted before.
       */
      operate: async <A>(
        use: (operations: Operations) => Promise<A>,
        signal: AbortSignal,
      ): Promise<A | undefined> => {
        while (!signal.aborted) {
          try {
            return await gate.through(() => withOperations(settings, use));
          } catch (error) {
            if (!isTransient(error)) throw error;
            await delay(REPEAT_AFTER_MS, signal);
          }
        }
        return undefined;
      },
      /** Uses the ledger alone, as the tools do that need no Temporal, also within `withoutTools`. */
      withLedger: <A>(use: (opened: Pick<Operations, "ledger">) => Promise<A>) =>
        withLedger(settings, use),
      /** Does something while no tool has the ledger open. */
      withoutTools: gate.alone,
      /** Ends every process; the folder is removed unless `keepFiles` is set. */
      end,
    };
  } catch (error) {
    await end({ keepFiles: true });
    throw new Error(`${messageOf(error)}\nThe logs are in ${folder}.`, { cause: error });
  }
};
