import { makePaymentsActivities } from "@durable-payments/activities";
import { PaymentsClient } from "@durable-payments/api-core";
import { openLedger } from "@durable-payments/ledger";
import { accountHash, batchQueue, trackerId, type Workflows } from "@durable-payments/protocol";
import { startSimulator } from "@durable-payments/simulator";
import { createLocalEnvironment, sharedBundle } from "@durable-payments/tools/testing";
import { paymentsBundler } from "@durable-payments/workflows/bundler-plugin";
import { bundleWorkflowCode, DefaultLogger, Worker } from "@temporalio/worker";
import { type Duration, ManagedRuntime } from "effect";
import { fileURLToPath } from "node:url";
import type { Operations } from "../../src/connection/operations.ts";

const TASK_QUEUE = "payments";

/** Temporal's dev server, a simulator, a ledger in memory, and workers on both queues. */
export const startRealStack = async (settleAfter: Duration.Input = "200 millis") => {
  const [environment, simulator, ledger, workflowBundle] = await Promise.all([
    createLocalEnvironment(),
    startSimulator({ settleAfter }),
    openLedger("memory"),
    sharedBundle("operations", () =>
      bundleWorkflowCode({
        workflowsPath: fileURLToPath(new URL("workflows.ts", import.meta.url)),
        plugins: [paymentsBundler()],
        logger: new DefaultLogger("ERROR"),
      }),
    ),
  ]);
  const { apiKey, clientId, url } = simulator;
  const runtime = ManagedRuntime.make(
    PaymentsClient.layer({
      baseUrl: url,
      clientId,
      apiKey,
      requestTimeoutMs: 1_000,
      assumptions: { listLagSeconds: 0, clockSkewSeconds: 0 },
    }),
  );
  const draining = new AbortController();
  let reserved = 0;
  const activities = {
    ...makePaymentsActivities(runtime, {
      ledger,
      taskQueue: TASK_QUEUE,
      tracker: { draining: draining.signal },
    }),
    reserve: async () => void (reserved += 1),
  };
  const { nativeConnection: connection } = environment;
  const workers = await Promise.all(
    [TASK_QUEUE, batchQueue(TASK_QUEUE)].map((taskQueue) =>
      Worker.create({ connection, taskQueue, activities, workflowBundle }),
    ),
  );
  const running = Promise.all(workers.map((worker) => worker.run()));
  const account = accountHash({ clientId, baseUrl: url });
  const tracker = await environment.client.workflow.start<Workflows["tracker"]>("tracker", {
    taskQueue: TASK_QUEUE,
    workflowId: trackerId(account),
    args: [{ account }],
  });
  const operations: Operations = {
    client: environment.client,
    connection: environment.connection,
    settings: {
      address: environment.address,
      namespace: "default",
      taskQueue: TASK_QUEUE,
      connectionOptions: {},
    },
    ledger,
    namespace: "default",
    taskQueue: TASK_QUEUE,
    account,
    accounts: [{ name: undefined, hash: account }],
  };
  return {
    operations,
    simulator,
    /** How often the activity of the test's own workflow ran. */
    reserved: () => reserved,
    async [Symbol.asyncDispose]() {
      draining.abort();
      await tracker.terminate();
      for (const worker of workers) worker.shutdown();
      await running;
      await runtime.dispose();
      await ledger.close();
      await simulator.stop();
      await environment.teardown();
    },
  };
};
