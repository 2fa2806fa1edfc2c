import { STEP, utc } from "@durable-payments/protocol";
import { commandLine } from "./command-line.ts";
import { failureRows } from "./failure-text.ts";
import { styled } from "./styled.ts";
import { STATE_STYLES } from "./run-list-text.ts";
import { columns } from "./text.ts";
import { isOpen } from "@durable-payments/operations/runs";
import { type BatchReport, type RunCounts, totalsText } from "@durable-payments/operations/batch";

type Line = readonly [name: string, value: string];

const NAMES = {
  completed: "completed",
  unfinished: "not complete in time",
  failed: "failed",
  cancelled: "cancelled",
  terminated: "terminated",
  timedOut: "timed out",
  attention: "ask a person",
  waiting: "await completion",
  running: "under way",
} as const;

const namesOfRuns = Object.keys(NAMES) as ReadonlyArray<keyof typeof NAMES>;

const rowLines = ({ progress, rows }: BatchReport): ReadonlyArray<Line> => {
  if (progress === null)
    return [["rows", `${rows} (how many are started is not known: no worker answers)`]];
  const { cancelled, conflicting, done, known, paused, rejected = 0, started } = progress;
  const parts = [
    `${started} started`,
    ...(known > 0 ? [`${known} of other files`] : []),
    ...(rejected > 0 ? [`${rejected} rejected in another file`] : []),
    ...(conflicting > 0 ? [`${conflicting} whose key paid something else`] : []),
    ...(done < rows ? [`${rows - done} not started`] : []),
  ];
  const command = cancelled ?? paused;
  const why = command?.why === undefined ? "" : `: ${command.why}`;
  return [
    ["rows", `${rows}: ${parts.join(", ")}`],
    ...(command === undefined
      ? []
      : [
          [
            cancelled ? "cancelled" : "paused",
            `by ${command.by}, ${utc(command.since)}${why}`,
          ] as const,
        ]),
  ];
};

/** How many runs stand how: `2 completed, 1 failed`. */
export const countsText = (runs: RunCounts): string =>
  namesOfRuns
    .filter((name) => runs[name] > 0)
    .map((name) => `${runs[name]} ${NAMES[name]}`)
    .join(", ");

/** What a batch pays, and how its payouts stand by now. */
const payoutLines = (report: BatchReport): ReadonlyArray<Line> => {
  const { amendedRows, fileTotals, others, runs, totals } = report;
  const counts = countsText(runs);
  const ofOthers = others === null ? "" : countsText(others);
  return [
    ["file's total", totalsText(fileTotals ?? totals)],
    ...(fileTotals === null
      ? []
      : [
          [
            "as amended",
            `${totalsText(totals)}; ${amendedRows === 1 ? "1 row was" : `${amendedRows} rows were`} amended since`,
          ] as const,
        ]),
    ...rowLines(report),
    ...(counts === "" ? [] : [["payouts", counts] as const]),
    ...(ofOthers === "" ? [] : [["of other files", ofOthers] as const]),
  ];
};

/** The same, below a run of another text. */
export const payoutsText = (report: BatchReport): string => columns(payoutLines(report));

/** How a batch stands, as a person reads it, within 80 columns. */
export const batchText = (report: BatchReport): string => {
  const { closedAt, failure, others, runs, stage, startedAt, startedBy, state, workflowId } =
    report;
  const lines: ReadonlyArray<Line> = [
    ["state", styled(STATE_STYLES[state], state)],
    ...(stage === STEP.awaitApproval && isOpen(report)
      ? [["waits", `for a second person: ${commandLine("attention")}`] as const]
      : []),
    ["started", `${utc(startedAt)} by ${startedBy}`],
    ...(closedAt === null ? [] : [["ended", utc(closedAt)] as const]),
    ["run id", report.runId],
    ...(report.file === null ? [] : [["file", report.file] as const]),
    ...(report.account === undefined ? [] : [["account", report.account] as const]),
    ...payoutLines(report),
    ...(failure === undefined ? [] : failureRows(failure)),
    ...(runs.attention + (others?.attention ?? 0) > 0
      ? [["see them", commandLine("attention")] as const]
      : []),
  ];
  return `${styled("bold", workflowId)}\n${columns(lines)}`;
};

/** The title of a result: that of a batch is of the time when its payouts had ended first, and stays as it was. */
export const resultTitle = (batch: BatchReport | null): string =>
  batch === null ? "Result" : "Result at its end, before any retry";
