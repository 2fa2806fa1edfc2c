import { commandLine } from "../../output/command-line.ts";
import { columns } from "../../output/text.ts";
import type { RetryPlan } from "./plan-retry.ts";
import type { RetriedRun } from "./retry-run.ts";

const planRows = ({ again, amended, eventId, from, overruled, stays }: RetryPlan) => [
  ["goes on from", `${from} (event ${eventId})`] as const,
  ["stays done", stays.length === 0 ? "nothing" : stays.join(", ")] as const,
  ...again.map(
    ({ name, note }, index) =>
      [index === 0 ? "done again" : "", note === null ? name : `${name}: ${note}`] as const,
  ),
  ...(amended.length === 0 ? [] : [["amended", amended.join(", ")] as const]),
  ...overruled.map(({ by, what, why }) => ["overrules", `${what} by ${by}: ${why}`] as const),
];

/** A retry, as a person reads it. */
export const retryText = ({ endedRunId, plan, runId, workflowId }: RetriedRun): string => {
  const isDone = runId !== null;
  const title = isDone ? `Retried ${workflowId}` : `Would retry ${workflowId}; nothing was done`;
  return [
    title,
    columns([
      ...planRows(plan),
      ["ended run", endedRunId],
      ...(isDone
        ? [["new run", runId] as const, ["follow it", commandLine("watch", workflowId)] as const]
        : []),
    ]),
  ].join("\n");
};

/** A retry, as a program reads it; the order itself may hold account numbers. */
export const retryAnswer = ({ plan: { order: _, ...plan }, ...run }: RetriedRun) => ({
  ...run,
  status: run.runId === null ? "planned" : "retried",
  plan,
});
