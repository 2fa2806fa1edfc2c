import { commandLine } from "./command-line.ts";
import { shownWithNext, withNext } from "./next-operation.ts";
import { styled } from "./styled.ts";
import { columns, columnsOf, cut, pad, wrap } from "./text.ts";
import type { Temporal } from "@durable-payments/operations/connection";
import { groupRuns, type ListedRun, totalsOf, totalsText } from "@durable-payments/operations/runs";
import { groupsText, STATE_STYLES } from "./run-list-text.ts";
import type {
  RetriedOne,
  RetriedRun,
  RetryPlan,
  RetryReport,
} from "@durable-payments/operations/retry";

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
        : [["no later run", `add --run-id ${endedRunId}`] as const]),
    ]),
  ].join("\n");
};

/** A retry, as a program reads it; the instruction itself may hold account numbers. */
export const retryAnswer = ({ plan: { instruction: _, ...plan }, ...run }: RetriedRun) => ({
  ...run,
  status: run.runId === null ? "planned" : "retried",
  plan,
});

/** What many retries would be done to: where, how many of which type, totals, and why each failed. */
export const toRetryText = (
  found: string,
  runs: ReadonlyArray<ListedRun>,
  { address, namespace }: Pick<Temporal["settings"], "address" | "namespace">,
): string => {
  if (runs.length === 0) return `Found ${found}.`;
  const unknown = runs.filter(({ payment }) => payment === null).length;
  const types = Map.groupBy(runs, ({ type }) => type);
  const totals = totalsText(totalsOf(runs));
  const but = unknown === 0 ? "" : `; the amount of ${unknown} is not known`;
  return [
    `Found ${found} in namespace "${namespace}" of ${address}:`,
    columns([
      ["types", [...types].map(([type, { length }]) => `${length} ${type}`).join(", ")],
      ["totals", totals === "" ? "not known" : `${totals}${but}`],
    ]),
    groupsText(groupRuns(runs)),
  ].join("\n");
};

const BAR = 24;

/** How many of many are done, as a bar. */
export const bar = (done: number, count: number): string =>
  `[${"#".repeat(Math.floor((BAR * done) / count)).padEnd(BAR, ".")}] ${done} of ${count}`;

const LONGEST_ID = 39;

const STYLES = {
  planned: "cyan",
  retried: "green",
  endedByPerson: "yellow",
  notRetried: "yellow",
  failed: "red",
} as const;

const LONGEST_STATUS = 13;

const reasonOf = ({ next, reason }: RetriedOne): string | null =>
  reason === null ? null : withNext({ message: reason, next });

const runText = (run: RetriedOne): string => {
  const { from, status, workflowId } = run;
  const { next, reason: why } = run;
  const reason =
    run.failure?.message ?? (why === null ? null : shownWithNext({ message: why, next }));
  const id = columnsOf(workflowId) > LONGEST_ID ? `${workflowId}\n` : "";
  const style = run.state === undefined ? STYLES[status] : STATE_STYLES[run.state];
  const state = styled(style, (run.state ?? status).padEnd(LONGEST_STATUS));
  const shown = pad(id === "" ? workflowId : "", LONGEST_ID);
  const line = `${id}${shown}  ${state}  ${from === null ? "" : cut(`from ${from}`, 23)}`.trimEnd();
  return reason === null ? line : `${line}\n${wrap(reason, "  ")}`;
};

/** How the retried runs have ended: `18 completed, 2 failed`; that they go on, where they were not awaited. */
const endsText = (runs: ReadonlyArray<RetriedOne>): string => {
  const ended = runs.flatMap(({ state }) => state ?? []);
  if (ended.length === 0) return "go on; how they end is not awaited";
  const states = Map.groupBy(ended, (state) => state);
  return [...states].map(([state, { length }]) => `${length} ${state}`).join(", ");
};

/** What became of many runs, as a person reads it. */
export const retriesText = (report: RetryReport): string => {
  const { count, endedByPerson, failed, notRetried, planned, retried, runs } = report;
  const parts = [
    ...(planned > 0 ? [`${planned} would be retried`] : []),
    ...(retried > 0 ? [`${retried} retried (${endsText(runs)})`] : []),
    ...(endedByPerson > 0 ? [`${endedByPerson} left out, ended by a person`] : []),
    ...(notRetried > 0 ? [`${notRetried} cannot be retried so`] : []),
    ...(failed > 0 ? [`${failed} could not be reached`] : []),
  ];
  return [...runs.map(runText), `${count} runs: ${parts.join(", ") || "nothing to do"}`].join("\n");
};

/** What became of many runs, as a program reads it. */
export const retriesAnswer = (report: RetryReport) => ({
  ...report,
  runs: report.runs.map((run) => {
    const { next: _, ...rest } = run;
    return { ...rest, reason: reasonOf(run) };
  }),
});
