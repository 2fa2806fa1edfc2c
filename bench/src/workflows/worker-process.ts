import { makePaymentsActivities, workerQueues } from "@durable-payments/activities";
import { PaymentsClient } from "@durable-payments/api-core";
import { readDataConverter } from "@durable-payments/codec";
import { JOURNAL_VARIABLE, openJournal, readJournalPlace } from "@durable-payments/journal";
import {
  onboardStartAttributes,
  payoutStartAttributes,
} from "@durable-payments/activities/start-attributes";
import type { OnboardCardholderInput, PayoutInput } from "@durable-payments/protocol";
import { accountHash, clientHash } from "@durable-payments/protocol/account";
import { Client } from "@temporalio/client";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { ManagedRuntime } from "effect";
import { randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import { answerTasks } from "../processes/answer-tasks.ts";
import { runWorkers } from "../processes/run-workers.ts";
import { type Author, bundleOf } from "./bundle.ts";
import { beneficiary, onboardInput, payoutInput, type WorkflowName } from "./inputs.ts";

/** So many runs, so many of them at once, or so many histories replayed. */
export interface RunsTask {
  readonly kind: "run" | "replay";
  readonly workflow: WorkflowName;
  readonly count: number;
  readonly concurrency: number;
}

/** What a task took. */
export interface RunsReading {
  /** Runs a second, or events a second of a replay. */
  readonly perSecond: number;
  /** Of this process, user and system, in ms per run. */
  readonly cpu: number;
  /** Events in the history of one run. */
  readonly events: number;
}

const [author, temporalAddress = "", taskQueue = ""] = process.argv.slice(2);
// The scenario passes one of the two.
const dataConverter = readDataConverter(process.env, "default");
const workflowBundle = await bundleOf(author as Author, dataConverter?.failureConverterPath);
Runtime.install({ logger: new DefaultLogger("ERROR") });
const connection = await NativeConnection.connect({ address: temporalAddress });
const encoding = dataConverter === undefined ? {} : { dataConverter };
const temporal = new Client({ connection, ...encoding });
const runtime = ManagedRuntime.make(PaymentsClient.layerFromEnvironment);
const { options: account } = await runtime.runPromise(PaymentsClient);
const client = clientHash(account);
const journal = await openJournal(readJournalPlace(process.env[JOURNAL_VARIABLE], client), client);
const { beneficiary_id } = await runtime.runPromise(
  PaymentsClient.use((client) => client.createBeneficiary(beneficiary)),
);

// As the worker app does it, but without rates: the safety net's is in nobody's way here.
const queues = workerQueues(taskQueue, { fallbackPollingPerSecond: 10_000 });
await runWorkers(queues, {
  connection,
  activities: makePaymentsActivities(runtime, { journal }),
  workflowBundle,
  ...encoding,
});

/** What ours are started with by batches and the command line; those by hand have none. */
const attributesOf = (workflowId: string, input: OnboardCardholderInput | PayoutInput) => {
  if (author === "bare") return [];
  const hash = accountHash(account);
  return "payout" in input
    ? [...payoutStartAttributes(workflowId, input, hash)]
    : [...onboardStartAttributes(input, { account: hash, currency: "USD" })];
};

const runOnce = async (workflow: WorkflowName): Promise<string> => {
  const workflowId = randomUUID();
  const input =
    workflow === "payout" ? payoutInput(beneficiary_id, workflowId) : onboardInput(workflowId);
  await temporal.workflow.execute(workflow, {
    args: [input],
    taskQueue,
    workflowId,
    requestEagerStart: true,
    typedSearchAttributes: attributesOf(workflowId, input),
  });
  return workflowId;
};

const historyOf = (workflowId: string) => temporal.workflow.getHandle(workflowId).fetchHistory();

const measured = async (count: number, work: () => Promise<void>) => {
  const began = performance.now();
  const before = process.cpuUsage();
  await work();
  const { system, user } = process.cpuUsage(before);
  return { seconds: (performance.now() - began) / 1000, cpu: (system + user) / 1000 / count };
};

const runAll = async ({ concurrency, count, workflow }: RunsTask): Promise<RunsReading> => {
  let left = count;
  let last = "";
  const runner = async () => {
    while (left-- > 0) last = await runOnce(workflow);
  };
  const { cpu, seconds } = await measured(count, async () => {
    await Promise.all(Array.from({ length: concurrency }, runner));
  });
  const { events } = await historyOf(last);
  return { perSecond: count / seconds, cpu, events: events?.length ?? 0 };
};

const replayAll = async ({ count, workflow }: RunsTask): Promise<RunsReading> => {
  const workflowId = await runOnce(workflow);
  const history = await historyOf(workflowId);
  const events = history.events?.length ?? 0;
  const histories = Array.from({ length: count }, () => ({ workflowId, history }));
  const { cpu, seconds } = await measured(count, async () => {
    for await (const { error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
      if (error !== undefined) throw error;
    }
  });
  return { perSecond: (events * count) / seconds, cpu, events };
};

answerTasks((task: RunsTask) => (task.kind === "run" ? runAll(task) : replayAll(task)));
