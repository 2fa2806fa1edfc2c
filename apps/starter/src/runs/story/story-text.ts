import { commandLines } from "../../output/command-line.ts";
import { styled } from "../../output/output.ts";
import { columns, cut, duration, fieldRows, time, wrap } from "../../output/text.ts";
import { STATE_STYLES } from "../run-list-text.ts";
import type { Story, StoryActivity, StoryEvent, StoryStep } from "./story.ts";

const MARKS = { done: "✓", failed: "✗", cancelled: "✗", running: "…" } as const;

/** The longest name of a step that is shown whole. */
const LONGEST_NAME = 36;

const INDENT = " ".repeat(6);

const since = (from: string): number => Date.now() - Date.parse(from);

const stepLine = ({ name, outcome, since: from, tookMs }: StoryStep, width: number): string =>
  `  ${MARKS[outcome]} ${cut(name, LONGEST_NAME).padEnd(width)}  ${time(from).slice(0, 19)}  ${duration(tookMs ?? since(from))}`;

const attemptsOf = ({ attempts }: StoryActivity): string =>
  attempts > 1 ? `, attempt ${attempts}` : "";

const activityText = (activity: StoryActivity): string => {
  const { attempts, failure, nextAttemptAt, outcome, tookMs } = activity;
  const name = activity.summary ?? activity.activity;
  switch (outcome) {
    case "done":
      return `${name}: done after ${duration(tookMs ?? 0)}${attemptsOf(activity)}${failure === null ? "" : `; the one before: ${failure.message}`}`;
    case "pending": {
      const tried = attempts > 1 || failure ? `, tried or looked ${attempts} times` : "";
      const last = failure === null ? "" : `: ${failure.message}`;
      const next = nextAttemptAt === null ? "" : ` Next: ${time(nextAttemptAt)}.`;
      return `${name}: under way for ${duration(since(activity.since))}${tried}${last}${next}`;
    }
    case "cancelled":
      return `${name}: cancelled after ${duration(tookMs ?? 0)}`;
    default:
      return `${name}: failed after ${duration(tookMs ?? 0)}${attemptsOf(activity)}: ${failure?.message ?? outcome}`;
  }
};

/** How long a person took. */
const waitedFor = (at: string, { events }: StoryStep): string => {
  const question = events.findLast((event) => event.kind === "question" && event.since <= at);
  return question?.kind === "question"
    ? ` after ${duration(Date.parse(at) - Date.parse(question.since))}`
    : "";
};

const eventText = (event: StoryEvent, step: StoryStep): string => {
  switch (event.kind) {
    case "activity":
      return activityText(event);
    case "timer":
      return event.tookMs === null
        ? `waits since ${time(event.since)}${event.summary === null ? "" : `: ${event.summary}`}`
        : `waited ${duration(event.tookMs)}${event.summary === null ? "" : `: ${event.summary}`}`;
    case "question":
      return `asked a person, ${time(event.since)}${step.outcome === "running" && step.events.at(-1) === event ? `: no answer for ${duration(since(event.since))}` : ""}`;
    case "leftOver":
      return `undoing: could not ${event.what}, ${time(event.at)}`;
    case "signal":
      return `was told (${event.name}), ${time(event.at)}`;
    case "update":
      return `${event.by ?? "somebody"} decided${waitedFor(event.at, step)}, ${time(event.at)}: ${event.what ?? event.name}`;
  }
};

/** A step that did one thing, at once, needs no second line. */
const isPlain = ({ events, outcome }: StoryStep): boolean =>
  outcome === "done" &&
  events.every(
    (event) => event.kind === "activity" && event.outcome === "done" && event.attempts === 1,
  );

const stepLines = (steps: ReadonlyArray<StoryStep>): Array<string> => {
  const width = Math.min(LONGEST_NAME, Math.max(0, ...steps.map(({ name }) => name.length)));
  return steps.flatMap((step) => [
    stepLine(step, width),
    ...(isPlain(step) ? [] : step.events.map((event) => wrap(eventText(event, step), INDENT))),
  ]);
};

const section = (title: string, lines: ReadonlyArray<string>): Array<string> =>
  lines.length === 0 ? [] : ["", styled("bold", title), ...lines];

/** The story of a run as a person reads it, at most 80 columns wide where ids allow it. */
export const storyText = (story: Story): string => {
  const { closedAt, failure, laterRun, paymentIds, resetFrom, startedAt, startedBy, state } = story;
  const style = state === "continuedAsNew" ? "cyan" : STATE_STYLES[state];
  const rows: Array<readonly [string, string]> = [
    ...(story.summary === null ? [] : [["to do", story.summary] as const]),
    ["state", styled(style, state)],
    ["started", `${time(startedAt)}${startedBy === null ? "" : ` by ${startedBy}`}`],
    closedAt === null
      ? ["so far", duration(since(startedAt))]
      : [
          "ended",
          `${time(closedAt)}, after ${duration(Date.parse(closedAt) - Date.parse(startedAt))}`,
        ],
    ["run id", story.runId],
    ...(resetFrom === null
      ? []
      : [
          ["reset from", resetFrom.runId] as const,
          ["", `${time(resetFrom.at)}: ${resetFrom.reason}`] as const,
        ]),
    ...(laterRun === null ? [] : [["later run", laterRun] as const]),
    ...(paymentIds.length === 0 ? [] : [["ids", paymentIds.join(" ")] as const]),
    ...(story.webUi === null ? [] : [["Web UI", story.webUi] as const]),
  ];
  return [
    `${styled("bold", story.workflowId)} (${story.type})`,
    columns(rows),
    ...section("What happened (times in UTC)", stepLines(story.steps)),
    ...(story.result === null || story.result === undefined
      ? []
      : section("Result", [columns(fieldRows(story.result))])),
    ...(failure === null ? [] : section("Why it failed", [columns(fieldRows(failure))])),
    ...(story.workerFault === null
      ? []
      : section("The worker cannot go on", [wrap(story.workerFault, "  ")])),
    ...section(
      "What can be done",
      story.next.flatMap(({ command, why }) => [
        wrap(`${why}:`, "  "),
        commandLines("    ", ...command),
      ]),
    ),
  ].join("\n");
};
