import { createClient } from "@durable-payments/client";
import { PaymentsPlugin } from "@durable-payments/plugin";
import { Client } from "@temporalio/client";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { answerTasks } from "../child.ts";
import { type Cost, costOf } from "../cost.ts";
import { makeBareActivities } from "./bare-activities.ts";
import { type Author, bundleOf } from "./bundle.ts";
import { beneficiary, onboardInput, payoutInput, type WorkflowName } from "./inputs.ts";

/** So many runs, so many of them at once, or only started. */
export interface RunsTask {
  readonly kind: "run" | "start";
  readonly workflow: WorkflowName;
  readonly count: number;
  readonly concurrency: number;
}

/** The cost of a task; the CPU of each run. */
export interface RunsReading extends Cost {
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

await answerTasks(async (task: RunsTask): Promise<RunsReading> => {
  const { concurrency, count, kind, workflow } = task;
  let last = "";
  const cost = await costOf(count, concurrency, async () => {
    const run = await startOnce(workflow);
    if (kind === "run") await run.result();
    last = run.workflowId;
  });
  const { events } = await temporal.workflow.getHandle(last).fetchHistory();
  return { ...cost, events: events?.length ?? 0 };
});
