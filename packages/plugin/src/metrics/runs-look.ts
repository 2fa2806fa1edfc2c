import { readAnswer } from "@durable-payments/activities/answers";
import {
  askingStages,
  isAskingStage,
  NEEDS_ATTENTION,
  PAUSE_TYPE,
  PAYMENT_IN_DOUBT,
  PAYMENT_STAGE,
  pauseId,
  progressQuery,
  queryText,
  queryTexts,
  STEP,
  WORKFLOW,
} from "@durable-payments/protocol";
import { type Client, WorkflowNotFoundError, type WorkflowExecutionInfo } from "@temporalio/client";
import * as Result from "effect/Result";
import { setGauge } from "./gauges.ts";
import type { Look } from "./scrape.ts";

/** However often it is scraped, Temporal is asked once in this time. */
const LOOK_EVERY_MS = 60_000;

const ANSWERED_WITHIN_MS = 20_000;

/** Of so many that ask, those that began first, it is read since when. */
const MOST_ASKED = 10;

/** Of more that ask at once the latest are looked through. */
const MOST_LISTED = 1_000;

/** A send takes less than that, so that what is in doubt in a run that began before is so for longer than a send. */
const IN_DOUBT_AFTER_MS = 10 * 60_000;

const STAGE = PAYMENT_STAGE.name;
const RUNNING = 'ExecutionStatus = "Running"';
const IN_DOUBT = `${PAYMENT_IN_DOUBT.name} IS NOT NULL`;
const ASKING = `${STAGE} IN ${queryTexts(askingStages)}`;

const OWN = [WORKFLOW.payout, WORKFLOW.onboardCardholder, WORKFLOW.payoutBatch];
const TYPES: ReadonlyArray<readonly [type: string, query: string]> = [
  ...OWN.map((type) => [type, `WorkflowType = ${queryText(type)}`] as const),
  ["other", `WorkflowType NOT IN ${queryTexts(OWN)} AND ${STAGE} IS NOT NULL`],
];

/** What a run waits for, if for anything. */
const STAGES: ReadonlyArray<readonly [stage: string, query: string]> = [
  ["needsAttention", `${STAGE} = ${queryText(NEEDS_ATTENTION)}`],
  [STEP.awaitApproval, `${STAGE} = ${queryText(STEP.awaitApproval)}`],
  ["waits", `${STAGE} STARTS_WITH "await" AND ${STAGE} != ${queryText(STEP.awaitApproval)}`],
  [
    "works",
    `${STAGE} IS NOT NULL AND ${STAGE} != ${queryText(NEEDS_ATTENTION)} AND NOT ${STAGE} STARTS_WITH "await"`,
  ],
];

const countOf = async (client: Client, conditions: ReadonlyArray<string>): Promise<number> => {
  const query = conditions.map((condition) => `(${condition})`).join(" AND ");
  return (await client.workflow.count(query)).count;
};

const lookAtStages = async (client: Client): Promise<void> => {
  for (const [type, ofType] of TYPES) {
    for (const [stage, atStage] of STAGES) {
      const runs = await countOf(client, [RUNNING, ofType, atStage]).catch(() => NaN);
      setGauge("payments_runs", runs, { type, stage });
    }
  }
};

const lookAtDoubts = async (client: Client): Promise<void> => {
  const before = queryText(new Date(Date.now() - IN_DOUBT_AFTER_MS).toISOString());
  const queries = {
    running: [RUNNING, IN_DOUBT, `StartTime < ${before}`],
    ended: ['ExecutionStatus != "Running"', 'ExecutionStatus != "ContinuedAsNew"', IN_DOUBT],
  };
  for (const [standing, query] of Object.entries(queries)) {
    const runs = await countOf(client, query).catch(() => NaN);
    setGauge("payments_runs_in_doubt", runs, { standing });
  }
};

/** Since when a run asks, in milliseconds since 1970; since it began, where it does not answer. */
const askingSince = async (
  client: Client,
  { runId, startTime, workflowId }: WorkflowExecutionInfo,
): Promise<number | undefined> => {
  try {
    const answer = await client.workflow
      .getHandle(workflowId, runId)
      .query<unknown>(progressQuery.name);
    const { attention, stage, steps } = Result.getOrThrow(readAnswer.asking(answer));
    if (!isAskingStage(stage)) return undefined;
    const since = attention?.since ?? steps.findLast(({ name }) => name === stage)?.since;
    return since === undefined ? undefined : Date.parse(since);
  } catch {
    return startTime.getTime();
  }
};

const lookAtQuestions = async (client: Client): Promise<void> => {
  const query = `${RUNNING} AND ${ASKING}`;
  const asking: Array<WorkflowExecutionInfo> = [];
  for await (const run of client.workflow.list({ query, pageSize: MOST_LISTED })) {
    if (asking.push(run) >= MOST_LISTED) break;
  }
  const first = asking.toSorted((one, other) => Number(one.startTime) - Number(other.startTime));
  const now = Date.now();
  const since = await Promise.all(
    first.slice(0, MOST_ASKED).map((run) => askingSince(client, run)),
  );
  const ages = since.map((at = now) => (now - at) / 1000);
  setGauge("payments_human_task_oldest_seconds", Math.max(0, ...ages));
};

const lookAtPause = async (client: Client, taskQueue: string): Promise<void> => {
  const isPaused = async (): Promise<number> => {
    try {
      const { status, type } = await client.workflow.getHandle(pauseId(taskQueue)).describe();
      return status.name === "RUNNING" && type === PAUSE_TYPE ? 1 : 0;
    } catch (error) {
      return error instanceof WorkflowNotFoundError ? 0 : NaN;
    }
  };
  setGauge("payments_sends_paused", await isPaused());
};

/**
 * Look up how the runs of the namespace stand: once a minute at most, and only where somebody asks, who does not wait for
 * it. What Temporal does not answer is not a number.
 */
export const lookAtRuns = (client: Client, taskQueue: string): Look => {
  let lookedAt = -Infinity;
  return () => {
    if (performance.now() - lookedAt < LOOK_EVERY_MS) return;
    lookedAt = performance.now();
    void client.withDeadline(Date.now() + ANSWERED_WITHIN_MS, () =>
      Promise.all([
        lookAtStages(client),
        lookAtDoubts(client),
        lookAtPause(client, taskQueue),
        lookAtQuestions(client).catch(() => setGauge("payments_human_task_oldest_seconds", NaN)),
      ]),
    );
  };
};
