import { isRecord } from "@durable-payments/api-core/values";
import { patchedFields } from "@durable-payments/protocol";
import { failureOf, masked } from "../history/masked.ts";
import type { HistoryActivity, HistoryEvent, ReadHistory } from "../history/run-history.ts";
import { findingOf } from "../history/sends.ts";
import { takenByLikeness } from "../history/taken-by-likeness.ts";
import { type RunEnd, standingOfStep } from "../history/step-standing.ts";
import type { TimelineActivity, TimelineEvent, TimelineStep } from "./timeline.ts";

const took = (since: string, until: string): number => Date.parse(until) - Date.parse(since);

const text = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

/** The decisions that people take. What other updates carry is not known to be fit to be shown. */
const decided = (content: Readonly<Record<string, unknown>>): string | null => {
  const { abandon, amend, approve, found, reject, resend } = content;
  if (isRecord(amend)) return `amend ${patchedFields(amend).join(", ")}`;
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

/**
 * A run that has ended takes no answer any more: nothing of it is pending. What a step still polled for that
 * was done by a signal was no longer needed: it is no failure.
 */
const activityOf = (
  activity: HistoryActivity,
  end: RunEnd | undefined,
  isSignalled: boolean,
): TimelineActivity => {
  const { attempts, lastFailure, since, summary, type } = activity;
  const isLeft = end !== undefined && activity.outcome === "pending";
  const isOver = isLeft || activity.outcome === "cancelled";
  const outcome = isSignalled && isOver ? "endedBySignal" : isLeft ? "noAnswer" : activity.outcome;
  const until = isLeft ? end.at : activity.until;
  const found = findingOf(activity);
  return {
    kind: "activity",
    activity: type,
    summary: masked(summary) ?? null,
    since,
    until: until ?? null,
    tookMs: until === undefined ? null : took(since, until),
    outcome,
    ...(found !== undefined && { found }),
    attempts,
    // What a poll failed with last is only that it had not happened yet.
    failure: outcome === "endedBySignal" ? null : failureOf(lastFailure),
    nextAttemptAt: null,
  };
};

const eventOf = (
  event: HistoryEvent,
  end: RunEnd | undefined,
  isSignalled: boolean,
): TimelineEvent => {
  switch (event.kind) {
    case "activity":
      return activityOf(event, end, isSignalled);
    case "timer": {
      const { since, summary, until = end?.at } = event;
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

const NO_ANSWER = "no answer, reconciling";

/** The steps of a run, from its history alone. */
export const timelineSteps = (
  { ids, namedInDoubt, steps }: Pick<ReadHistory, "ids" | "namedInDoubt" | "steps">,
  end: RunEnd | undefined,
): ReadonlyArray<TimelineStep> =>
  steps.map((step) => {
    const { events, name, since } = step;
    const { isReconciling, state, until } = standingOfStep(step, namedInDoubt, end);
    const taken = takenByLikeness(step, ids);
    // What was signalled may be that it has failed.
    const isOver = state === "completed" || state === "failed";
    const isSignalled = isOver && events.some(({ kind }) => kind === "signal");
    return {
      name,
      state,
      since,
      until: until ?? null,
      tookMs: until === undefined ? null : took(since, until),
      ...(isReconciling && { note: NO_ANSWER }),
      ...(taken !== undefined && { note: `${taken.id}: ${taken.text}` }),
      events: events.map((event) => eventOf(event, end, isSignalled)),
    };
  });
