import { asSentence, isUnfinished, utc } from "@durable-payments/protocol";
import { paymentText } from "./payment-text.ts";
import { payoutsText, resultTitle } from "./batch-text.ts";
import { failureRows } from "./failure-text.ts";
import { styled, unbroken } from "./styled.ts";
import { beside, columns, columnsOf, fieldRows, pad, wrap, wrapDeeper } from "./text.ts";
import { inDoubtLines } from "./human-task-text.ts";
import { argumentsOf, shownWithNext, withNext } from "./next-operation.ts";
import type { PendingActivity, ReportedStep, RunReport } from "@durable-payments/operations/runs";
import { STATE_STYLES } from "./run-list-text.ts";
import { askedToEndRow, settledText, startedRows } from "./settled-text.ts";
import { attentionLines, MARKS, shownLines, stepTime } from "./progress-lines.ts";

const section = (title: string, lines: ReadonlyArray<string>): Array<string> =>
  lines.length === 0 ? [] : ["", wrap(styled("bold", title)), ...lines];

const stepLines = (steps: ReadonlyArray<ReportedStep>): Array<string> => {
  const nameWidth = Math.max(0, ...steps.map(({ name }) => columnsOf(name)));
  const times = steps.map((step) => stepTime(step));
  const timeWidth = Math.max(0, ...times.map(({ length }) => length));
  return steps.map((step, index) => {
    const start = `  ${MARKS[step.state]} ${pad(step.name, nameWidth)}  ${(times[index] ?? "").padStart(timeWidth)}  `;
    // What was going on is of interest while it goes on.
    const note = step.state === "completed" ? "" : (step.note ?? "");
    return beside(start, note, " ".repeat(6));
  });
};

const pendingLines = ({ activity, attempt, message, nextAttemptAt }: PendingActivity): string =>
  wrap(
    [
      asSentence(`${activity}: ${message ?? "under way"}`),
      ...(attempt > 1 || message !== undefined ? [`Tried or polled ${attempt} times.`] : []),
      ...(nextAttemptAt === undefined ? [] : [`Next: ${utc(nextAttemptAt)}.`]),
    ].join(" "),
    "  ",
  );

const endLines = (report: RunReport): Array<string> => {
  if ("result" in report)
    return section(resultTitle(report.batch), [columns(fieldRows(report.result))]);
  return "failure" in report ? section("Failure", [columns(failureRows(report.failure))]) : [];
};

/** A run as a person reads it, as wide as the terminal where ids allow it, at most 80 columns. */
export const reportText = (report: RunReport): string => {
  const { attention, ids, pending, shown, stage, state, steps, workflowId } = report;
  const rows: Array<readonly [string, string]> = [
    [
      "state",
      isUnfinished(report)
        ? styled("yellow", `${state}, its payout not complete in time`)
        : styled(STATE_STYLES[state], state),
    ],
    [
      "stage",
      report.since === null || report.closedAt !== null
        ? (stage ?? "–")
        : `${stage ?? "–"} since ${utc(report.since)}`,
    ],
    ...(report.payment === null ? [] : [["payment", paymentText(report.payment)] as const]),
    ...startedRows(report),
    ...(report.askedToEnd === null ? [] : [askedToEndRow(report.askedToEnd)]),
    ...(report.closedAt === null ? [] : [["ended", utc(report.closedAt)] as const]),
    ["run id", report.runId],
    ...Object.entries(ids),
    ...(report.stepsFrom === "history"
      ? report.namedIds.map(({ id, name }) => [name, id] as const)
      : []),
    ...(report.webUi === null ? [] : [["Web UI", unbroken(report.webUi)] as const]),
  ];
  return [
    wrapDeeper(`${styled("bold", workflowId)} (${report.type})`),
    columns(rows),
    ...section(
      report.stepsFrom === "progress" ? "Steps" : "Steps, from the history",
      stepLines(steps),
    ),
    ...(report.noProgress === undefined
      ? []
      : ["", wrapDeeper(`The run cannot be asked: ${shownWithNext(report.noProgress)}`)]),
    ...section("Waits for", pending.map(pendingLines)),
    ...section(
      "Shown",
      Object.entries(shown).flatMap(([title, value]) => shownLines(report, title, value)),
    ),
    ...(attention ? section("Needs a person", attentionLines(report, attention)) : []),
    ...(report.batch === null ? [] : section("Payouts by now", [payoutsText(report.batch)])),
    ...endLines(report),
    ...section("Settled", report.settled.map(settledText)),
    ...(report.inDoubt.length === 0 ? [] : section("In doubt", inDoubtLines(report))),
  ].join("\n");
};

/** A run as a program reads it. */
export const reportAnswer = ({ noProgress, retry, ...report }: RunReport) => ({
  ...report,
  ...(noProgress && { noProgress: withNext(noProgress) }),
  ...(retry && { retry: argumentsOf(retry) }),
});
