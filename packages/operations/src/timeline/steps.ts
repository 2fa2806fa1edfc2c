import { isRecord } from "@durable-payments/api-core/values";
import { sendingOf } from "@durable-payments/protocol";
import { failureOf, masked } from "../history/masked.ts";
import type {
  HistoryActivity,
  HistoryEvent,
  HistoryStep,
  ReadHistory,
} from "../history/run-history.ts";
import { isNamedIn, isUnanswered } from "../history/sends.ts";
import type { TimelineActivity, TimelineEvent, TimelineStep } from "./timeline.ts";

/** How a run ended, as far as it determines how its steps ended; undefined while it goes on. */
export interface RunEnd {
  readonly at: string;
  readonly isDone: boolean;
  readonly isCancelled: boolean;
}

const took = (since: string, until: string): number => Date.parse(until) - Date.parse(since);

const text = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

/** The decisions that people take. What other updates carry is not known to be fit to be shown. */
const decided = (content: Readonly<Record<string, unknown>>): string | null => {
  const { abandon, amend, approve, found, reject, resend } = content;
  if (isRecord(amend)) return `amend ${Object.keys(amend).join(", ")}`;
  if (isRecord(found)) {
    return `found ${Object.entries(found)
      .map(([name, id]) => `${name} ${text(id)}`)
      .join(", ")}`;
  }
  if (resend === true) return "send it again";
  if (approve === true) return "approved";
  if (abandon !== undefined) return `abandon: ${masked(text(abandon))}`;
  return reject === undefined ? null : `rejected: ${masked(text(reject))}`;
};

/** A run that has ended takes no answer any more: nothing of it is pending. */
const activityOf = (activity: HistoryActivity, end: RunEnd | undefined): TimelineActivity => {
  const { attempts, lastFailure, since, summary, type } = activity;
  const isLeft = end !== undefined && activity.outcome === "pending";
  const outcome = isLeft ? "noAnswer" : activity.outcome;
  const until = isLeft ? end.at : activity.until;
  return {
    kind: "activity",
    activity: type,
    summary: masked(summary) ?? null,
    since,
    until: until ?? null,
    tookMs: until === undefined ? null : took(since, until),
    outcome,
    attempts,
    failure: failureOf(lastFailure),
    nextAttemptAt: null,
  };
};

const eventOf = (event: HistoryEvent, end: RunEnd | undefined): TimelineEvent => {
  switch (event.kind) {
    case "activity":
      return activityOf(event, end);
    case "timer": {
      const { since, summary, until } = event;
      return {
        kind: "timer",
        summary: masked(summary) ?? null,
        since,
        until: until ?? null,
        tookMs: until === undefined ? null : took(since, until),
      };
    }
    case "humanTask":
      return { kind: "question", since: event.since };
    case "undoFailed":
      return { kind: "leftOver", what: event.what, at: event.at };
    case "signal":
      return { kind: "signal", name: event.name, at: event.at, by: null, what: null };
    case "update": {
      const { at, content, name } = event;
      const by = isRecord(content) && typeof content["by"] === "string" ? content["by"] : null;
      return { kind: "update", name, at, by, what: isRecord(content) ? decided(content) : null };
    }
  }
};

/** When a step that went on beside others was over: when its last activity was. */
const untilOf = ({ activities, until }: HistoryStep): string | undefined => {
  if (until !== undefined) return until;
  const ends = activities.map((activity) => activity.until);
  return ends.length === 0 || ends.includes(undefined)
    ? undefined
    : ends.findLast((end) => end !== undefined);
};

/** Whether a step has sent something and the run does not know what became of it: by its own word, too. */
const isInDoubt = (step: HistoryStep, namedInDoubt: string): boolean =>
  isUnanswered(step) && isNamedIn(namedInDoubt, step.name);

const NO_ANSWER = "no answer, reconciling";

/** The steps of a run, from its history alone. One that goes on beside others is done with its send. */
export const timelineSteps = (
  { namedInDoubt, steps }: Pick<ReadHistory, "namedInDoubt" | "steps">,
  end: RunEnd | undefined,
): ReadonlyArray<TimelineStep> =>
  steps.map((step) => {
    const { activities, events, isCurrent, name, since } = step;
    const inDoubt = isInDoubt(step, namedInDoubt);
    const until = isCurrent || inDoubt ? undefined : untilOf(step);
    const over = until ?? end?.at ?? null;
    const broken = end?.isCancelled === true ? "cancelled" : "failed";
    const isBroken = end !== undefined && !end.isDone && (isCurrent || inDoubt);
    const isAsking = events.at(-1)?.kind === "humanTask";
    const isUnderWay = activities.some(
      ({ outcome, type }) => outcome === "pending" && sendingOf(type) !== undefined,
    );
    return {
      name,
      outcome: over === null ? "running" : isBroken ? broken : "done",
      since,
      until: over,
      tookMs: over === null ? null : took(since, over),
      ...(over === null && inDoubt && !isAsking && !isUnderWay && { note: NO_ANSWER }),
      events: events.map((event) => eventOf(event, end)),
    };
  });
