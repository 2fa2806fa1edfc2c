import { asSentence, isUnfinished, sendingUndoneBy, utc } from "@durable-payments/protocol";
import { commandLines } from "./command-line.ts";
import { argumentsOf } from "./next-operation.ts";
import { payoutsText, resultTitle } from "./batch-text.ts";
import { failureRows } from "./failure-text.ts";
import { inDoubtLines } from "./human-task-text.ts";
import { styled, unbroken } from "./styled.ts";
import {
  columns,
  columnsOf,
  cut,
  duration,
  fieldRows,
  pad,
  textWidth,
  wrap,
  wrapDeeper,
} from "./text.ts";
import { MARKS } from "./progress-lines.ts";
import { STATE_STYLES } from "./run-list-text.ts";
import { askedToEndRow, startedRows, settledText } from "./settled-text.ts";
import type {
  Timeline,
  TimelineActivity,
  TimelineEvent,
  TimelineStep,
} from "@durable-payments/operations/timeline";

/** The longest name of a step that is shown whole. */
const LONGEST_NAME = 36;

/** Failure of a send that the journal did not permit. */
const ALREADY_SENT = "AlreadySent";

const INDENT = " ".repeat(6);

const since = (from: string): number => Date.now() - Date.parse(from);

const stepLine = ({ name, since: from, state, tookMs }: TimelineStep, width: number): string => {
  const start = `  ${MARKS[state]} ${pad(cut(name, LONGEST_NAME), width)}  `;
  const times = `${utc(from).slice(0, 19)}  ${duration(tookMs ?? since(from))}`;
  return columnsOf(start) + columnsOf(times) <= textWidth()
    ? `${start}${times}`
    : `${start.trimEnd()}\n${INDENT}${times}`;
};

const attemptsOf = ({ attempts }: TimelineActivity): string =>
  attempts > 1 ? `, attempt ${attempts}` : "";

const activityText = (activity: TimelineActivity): string => {
  const { attempts, failure, nextAttemptAt, outcome, tookMs } = activity;
  const name = activity.summary ?? activity.activity;
  switch (outcome) {
    case "done":
      return `${name}: ${activity.found ?? "done"} after ${duration(tookMs ?? 0)}${attemptsOf(activity)}${failure === null ? "" : `; the one before: ${failure.message}`}`;
    case "pending": {
      const tried = attempts > 1 || failure ? `, tried or polled ${attempts} times` : "";
      const last = failure === null ? "" : `: ${failure.message}`;
      const next = nextAttemptAt === null ? "" : ` Next: ${utc(nextAttemptAt)}.`;
      const standing = `${name}: under way for ${duration(since(activity.since))}${tried}${last}`;
      return next === "" ? standing : `${asSentence(standing)}${next}`;
    }
    case "noAnswer":
      return `${name}: no answer after ${duration(tookMs ?? 0)}, when the run ended`;
    case "endedBySignal":
      return `${name}: not needed any more after ${duration(tookMs ?? 0)}, when a signal came`;
    case "cancelled":
      return `${name}: cancelled after ${duration(tookMs ?? 0)}`;
    default:
      // Nothing has failed: what was sent before is taken up.
      if (failure?.type === ALREADY_SENT) return `${name}: ${failure.message}`;
      return `${name}: failed after ${duration(tookMs ?? 0)}${attemptsOf(activity)}: ${failure?.message ?? outcome}`;
  }
};

/** How long a person took. */
const waitedFor = (at: string, { events }: TimelineStep): string => {
  const question = events.findLast((event) => event.kind === "question" && event.since <= at);
  return question?.kind === "question"
    ? ` after ${duration(Date.parse(at) - Date.parse(question.since))}`
    : "";
};

const eventText = (event: TimelineEvent, step: TimelineStep): string => {
  switch (event.kind) {
    case "activity":
      return activityText(event);
    case "timer":
      return event.tookMs === null
        ? `waits since ${utc(event.since)}${event.summary === null ? "" : `: ${event.summary}`}`
        : `waited ${duration(event.tookMs)}${event.summary === null ? "" : `: ${event.summary}`}`;
    case "question":
      return `asked a person, ${utc(event.since)}${step.until === null && step.events.at(-1) === event ? `: no answer for ${duration(since(event.since))}` : ""}`;
    case "leftOver":
      return `undoing: could not ${event.what}, ${utc(event.at)}`;
    case "signal":
      return `was signalled (${event.name}), ${utc(event.at)}`;
    case "update":
      return `${event.by ?? "somebody"} decided${waitedFor(event.at, step)}, ${utc(event.at)}: ${event.what ?? event.name}`;
  }
};

/** A step that did one thing, at once, needs no second line; what was undone always has one. */
const isPlain = ({ events, state }: TimelineStep): boolean =>
  state === "completed" &&
  events.every(
    (event) =>
      event.kind === "signal" ||
      (event.kind === "activity" &&
        sendingUndoneBy(event.activity) === undefined &&
        (event.outcome === "endedBySignal" || (event.outcome === "done" && event.attempts === 1))),
  );

const stepLines = (steps: ReadonlyArray<TimelineStep>): Array<string> => {
  const width = Math.min(LONGEST_NAME, Math.max(0, ...steps.map(({ name }) => columnsOf(name))));
  return steps.flatMap((step) => [
    stepLine(step, width),
    ...(step.note === undefined ? [] : [wrapDeeper(step.note, INDENT)]),
    ...(isPlain(step)
      ? []
      : step.events.map((event) => wrapDeeper(eventText(event, step), INDENT))),
  ]);
};

const section = (title: string, lines: ReadonlyArray<string>): Array<string> =>
  lines.length === 0 ? [] : ["", wrap(styled("bold", title)), ...lines];

/** The timeline of a run as a person reads it, as wide as the terminal where ids allow it, at most 80 columns. */
export const timelineText = (timeline: Timeline): string => {
  const { closedAt, failure, laterRun, namedIds, resetFrom, startedAt, state } = timeline;
  const rows: Array<readonly [string, string]> = [
    ...(timeline.summary === null ? [] : [["to do", timeline.summary] as const]),
    [
      "state",
      isUnfinished(timeline)
        ? styled("yellow", `${state}, its payout not complete in time`)
        : styled(STATE_STYLES[state], state),
    ],
    ...startedRows(timeline),
    ...(timeline.askedToEnd === null ? [] : [askedToEndRow(timeline.askedToEnd)]),
    closedAt === null
      ? ["so far", duration(since(startedAt))]
      : [
          "ended",
          `${utc(closedAt)}, after ${duration(Date.parse(closedAt) - Date.parse(startedAt))}`,
        ],
    ["run id", timeline.runId],
    ...(resetFrom === null
      ? []
      : [
          ["reset from", resetFrom.runId] as const,
          ["", `${utc(resetFrom.at)}: ${resetFrom.reason}`] as const,
        ]),
    ...(laterRun === null ? [] : [["later run", laterRun] as const]),
    ...namedIds.map(({ id, name }) => [name, id] as const),
    ...(timeline.webUi === null ? [] : [["Web UI", unbroken(timeline.webUi)] as const]),
  ];
  return [
    wrapDeeper(`${styled("bold", timeline.workflowId)} (${timeline.type})`),
    columns(rows),
    ...section(
      "What happened (times in UTC; names as given, not verified)",
      stepLines(timeline.steps),
    ),
    ...(timeline.batch === null ? [] : section("Payouts by now", [payoutsText(timeline.batch)])),
    ...(timeline.result === null || timeline.result === undefined
      ? []
      : section(resultTitle(timeline.batch), [columns(fieldRows(timeline.result))])),
    ...(failure === null ? [] : section("Why it failed", [columns(failureRows(failure))])),
    ...section("Settled", timeline.settled.map(settledText)),
    ...(timeline.inDoubt.length === 0 ? [] : section("In doubt", inDoubtLines(timeline))),
    ...(timeline.workerFault === null
      ? []
      : section("The worker cannot go on", [wrap(timeline.workerFault, "  ")])),
    ...section("What can be done", [
      ...(timeline.noRetry === null ? [] : [wrap(timeline.noRetry, "  ")]),
      ...timeline.next.flatMap(({ why, ...next }) => [
        wrap(`${why}:`, "  "),
        commandLines("    ", ...argumentsOf(next)),
      ]),
    ]),
  ].join("\n");
};

/** The timeline of a run as a program reads it: with the arguments of the commands of what can be done. */
export const timelineAnswer = ({ next, retry, ...timeline }: Timeline) => ({
  ...timeline,
  ...(retry && { retry: argumentsOf(retry) }),
  next: next.map(({ why, ...operation }) => ({ why, command: argumentsOf(operation) })),
});
