import { createClient } from "@durable-payments/client";
import { PaymentsPlugin } from "@durable-payments/plugin";
import { Client } from "@temporalio/client";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { answerTasks } from "../child.ts";
import { makeBareActivities } from "./bare-activities.ts";
import { type Author, bundleOf } from "./bundle.ts";
import { beneficiary, onboardInput, payoutInput, type WorkflowName } from "./inputs.ts";

/** So many runs, so many of them at once, or only started; or so many histories replayed. */
export interface RunsTask {
  readonly kind: "run" | "replay" | "start";
  readonly workflow: WorkflowName;
  readonly count: number;
  readonly concurrency: number;
}

/** The cost of a task. */
export interface RunsReading {
  /** CPU time of this process, user and system, in µs for each run. */
  readonly cpu: number;
  readonly perSecond: number;
  /** Events in the history of one run. */
  readonly events: number;
}

const { PAYMENTS_API_KEY = "", PAYMENTS_BASE_URL = "", PAYMENTS_CLIENT_ID = "" } = process.env;
const [given, temporalAddress = "", taskQueue = ""] = process.argv.slice(2);
// The scenario passes one of the two.
const author = given as Author;
const workflowBundle = await bundleOf(author);
Runtime.install({ logger: new DefaultLogger("ERROR") });
const connection = await NativeConnection.connect({ address: temporalAddress });
const service = createClient({
  baseUrl: PAYMENTS_BASE_URL,
  clientId: PAYMENTS_CLIENT_ID,
  apiKey: PAYMENTS_API_KEY,
});
const { beneficiary_id } = await service.createBeneficiary(beneficiary);

// Ours as a user's worker has it, with everything else that the plugin runs.
const plugins = author === "ours" ? [new PaymentsPlugin()] : [];
const temporal = new Client({ connection, plugins });
const worker = await Worker.create({
  connection,
  taskQueue,
  plugins,
  workflowBundle,
  ...(author === "bare" && { activities: makeBareActivities(service) }),
});
worker.run().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
});

const startOnce = async (workflow: WorkflowName) => {
  const workflowId = randomUUID();
  const input =
    workflow === "payout" ? payoutInput(beneficiary_id, workflowId) : onboardInput(workflowId);
  return temporal.workflow.start<(given: typeof input) => Promise<unknown>>(workflow, {
    args: [input],
    taskQueue,
    workflowId,
    requestEagerStart: true,
  });
};

const runOnce = async (workflow: WorkflowName): Promise<string> => {
  const run = await startOnce(workflow);
  await run.result();
  return run.workflowId;
};

const historyOf = (workflowId: string) => temporal.workflow.getHandle(workflowId).fetchHistory();

const cost = async (count: number, work: () => Promise<unknown>) => {
  const began = performance.now();
  const before = process.cpuUsage();
  await work();
  const { system, user } = process.cpuUsage(before);
  return { cpu: (system + user) / count, perSecond: (1000 * count) / (performance.now() - began) };
};

const runAll = async ({ concurrency, count, kind, workflow }: RunsTask): Promise<RunsReading> => {
  let left = count;
  let last = "";
  const workOff = async () => {
    while (left-- > 0) {
      last = kind === "run" ? await runOnce(workflow) : (await startOnce(workflow)).workflowId;
    }
  };
  const measured = await cost(count, () =>
    Promise.all(Array.from({ length: concurrency }, workOff)),
  );
  const { events } = await historyOf(last);
  return { ...measured, events: events?.length ?? 0 };
};

const replayAll = async ({ count, workflow }: RunsTask): Promise<RunsReading> => {
  const workflowId = await runOnce(workflow);
  const history = await historyOf(workflowId);
  const histories = Array.from({ length: count }, () => ({ workflowId, history }));
  const measured = await cost(count, async () => {
    for await (const { error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
      if (error !== undefined) throw error;
    }
  });
  return { ...measured, events: history.events?.length ?? 0 };
};

await answerTasks((task: RunsTask) => (task.kind === "replay" ? replayAll(task) : runAll(task)));
