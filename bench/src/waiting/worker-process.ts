import { fileURLToPath } from "node:url";
import { makePaymentsActivities, workerQueues } from "@durable-payments/activities";
import { PaymentsClient } from "@durable-payments/api-core";
import { DefaultLogger, NativeConnection, Runtime } from "@temporalio/worker";
import { ManagedRuntime } from "effect";
import { answerTasks } from "../processes/answer-tasks.ts";
import { runWorkers } from "../processes/run-workers.ts";
import { bundleOurs } from "../workflows/bundle.ts";
import type { Place } from "./place.ts";

const [place = "{}"] = process.argv.slice(2);
// The scenario passes it.
const { apiKey, baseUrl, clientId, taskQueue, temporalAddress } = JSON.parse(place) as Place;

// Nothing is to be drained: what is measured is measured when it is stopped.
Runtime.install({ logger: new DefaultLogger("WARN"), shutdownSignals: [] });
const workflowBundle = await bundleOurs(fileURLToPath(new URL("./workflows.ts", import.meta.url)));
const connection = await NativeConnection.connect({ address: temporalAddress });
const runtime = ManagedRuntime.make(
  PaymentsClient.layer({
    apiKey,
    baseUrl,
    clientId,
    // On a busy machine answers are lost: they are reconciled soon, since this list never lags.
    requestTimeoutMs: 5_000,
    assumptions: { listLagSeconds: 0 },
  }),
);
// As the worker app does it, at its default rates.
await runWorkers(workerQueues(taskQueue), {
  connection,
  activities: makePaymentsActivities(runtime),
  workflowBundle,
});

// The CPU seconds of this process so far.
answerTasks(async () => {
  const { system, user } = process.cpuUsage();
  return (system + user) / 1e6;
});
