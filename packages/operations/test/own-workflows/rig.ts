import { makePaymentsActivities, workerQueues } from "@durable-payments/activities";
import { defaultAssumptions, PaymentsClient } from "@durable-payments/api-core";
import { type Journal, makeMemoryJournal } from "@durable-payments/journal";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { createLocalEnvironment } from "@durable-payments/tools/testing";
import { paymentsBundler } from "@durable-payments/workflows/bundler-plugin";
import { bundleWorkflowCode, DefaultLogger, Worker } from "@temporalio/worker";
import { ManagedRuntime } from "effect";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { temporalSettings } from "../../src/connection/settings.ts";
import { type Temporal, withTemporal } from "../../src/connection/temporal.ts";
import type { RetryOptions } from "../../src/retry/plan.ts";
import { bookEntry, inputs, sendReceipt } from "./ledger-operations.ts";
import { type LedgerService, startLedgerService } from "./ledger-service.ts";

/** A server, the payment service, another service, and a worker of a user's own, as its documentation says. */
export interface OwnRig {
  readonly simulator: Simulator;
  readonly ledger: LedgerService;
  readonly journal: Journal;
  readonly environment: Awaited<ReturnType<typeof createLocalEnvironment>>;
  readonly taskQueue: string;
  /** The worker's process is gone: nothing that it does is reported any more, and another one takes its place. */
  readonly replaceWorker: () => Promise<void>;
  readonly connected: <A>(use: (temporal: Temporal) => Promise<A>) => Promise<A>;
  readonly end: () => Promise<void>;
}

/** What the worker knows of a workflow that is not as the documentation says. */
const readsOnce = { schema: z.object({ entry: z.object({}) }), amendable: { "entry.": "second" } };

const payInTurn = {
  schema: z.looseObject({ payment: z.looseObject({ amount: z.string() }) }),
  amendable: { "payment.": "createPayout", step: "createPayout" },
};

const paysApproved = {
  schema: z.looseObject({}),
  amendable: { "payment.": "createPayout", "entry.": "bookEntry" },
};

const quiet = new DefaultLogger("ERROR", () => undefined);

export const retrying = (patch?: unknown, more: Partial<RetryOptions> = {}): RetryOptions => ({
  by: "Bob",
  reason: "again",
  from: undefined,
  patch,
  assumptions: defaultAssumptions,
  decisions: "keep",
  ...more,
});

/** @param journal where it does not matter, one in memory. */
export const startOwnRig = async (
  workflows: string,
  journal: Journal = makeMemoryJournal(),
): Promise<OwnRig> => {
  const environment = await createLocalEnvironment();
  const simulator = await startSimulator({ settleAfter: 0, verifyAfter: 0 });
  const ledger = await startLedgerService();
  const { apiKey, clientId, url: baseUrl } = simulator;
  const runtime = ManagedRuntime.make(
    PaymentsClient.layer({
      apiKey,
      clientId,
      baseUrl,
      maxAttempts: 1,
      requestTimeoutMs: 1_000,
      assumptions: { listLagSeconds: 0, visibilityLagSeconds: 1 },
    }),
  );
  const activities = makePaymentsActivities(runtime, {
    journal,
    inputs: { ...inputs, payInTurn, paysApproved, readsOnce },
    operations: { bookEntry: bookEntry(ledger.url), sendReceipt: sendReceipt(ledger.url) },
  });
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL(workflows, import.meta.url)),
    plugins: [paymentsBundler()],
    // Without it the bundler would take a build of the packages, and perhaps a stale one.
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, conditionNames: ["@durable-payments/source", "..."] },
    }),
    logger: quiet,
  });
  const taskQueue = `own-${randomUUID()}`;
  const { activityQueues, workflowQueues } = workerQueues(taskQueue);
  const shared = { connection: environment.nativeConnection, namespace: "default", activities };
  const startWorkers = async () => {
    const workers = await Promise.all([
      ...workflowQueues.map((queue) =>
        Worker.create({ ...queue, ...shared, workflowBundle, workflowThreadPoolSize: 1 }),
      ),
      ...activityQueues.map((queue) => Worker.create({ ...queue, ...shared })),
    ]);
    const running = Promise.all(workers.map((worker) => worker.run()));
    return async () => {
      for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
      await running;
    };
  };
  let stopWorkers = await startWorkers();
  return {
    simulator,
    ledger,
    journal,
    environment,
    taskQueue,
    replaceWorker: async () => {
      await stopWorkers();
      stopWorkers = await startWorkers();
    },
    connected: (use) =>
      withTemporal(temporalSettings({ TEMPORAL_ADDRESS: environment.address }), use),
    end: async () => {
      await stopWorkers();
      await runtime.dispose();
      await ledger.stop();
      await simulator.stop();
      await environment.teardown();
    },
  };
};
