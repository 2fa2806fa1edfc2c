import { sendingOf } from "@durable-payments/protocol";
import { openStateOf, type StepState } from "../runs/state-name.ts";
import type { HistoryStep } from "./run-history.ts";
import { isNamedIn, isUnanswered } from "./sends.ts";

/** How a run ended, as far as it determines how its steps ended; undefined while it goes on. */
export interface RunEnd {
  readonly at: string;
  readonly isDone: boolean;
  readonly isCancelled: boolean;
}

/** How a step of a run stands, by its history. */
export interface StepStanding {
  readonly state: StepState;
  readonly until: string | undefined;
  /** It has sent something, has no answer, and nothing of it is under way: it reconciles. */
  readonly isReconciling: boolean;
}

/** When a step that went on beside others was over: when its last activity was. */
const untilOf = ({ activities, until }: HistoryStep): string | undefined => {
  if (until !== undefined) return until;
  const ends = activities.map((activity) => activity.until);
  return ends.length === 0 || ends.includes(undefined)
    ? undefined
    : ends.findLast((end) => end !== undefined);
};

/** How a step stands with which a run has ended that did not complete. */
export const brokenStateOf = (end: RunEnd): StepState => (end.isCancelled ? "cancelled" : "failed");

/** How a step stands. One that goes on beside others is done with its send. */
export const standingOfStep = (
  step: HistoryStep,
  namedInDoubt: string,
  end: RunEnd | undefined,
): StepStanding => {
  const { activities, events, isCurrent, name } = step;
  // By the run's own word, too: it has sent something, and does not know what became of it.
  const inDoubt = isUnanswered(step) && isNamedIn(namedInDoubt, name);
  const until = (isCurrent || inDoubt ? undefined : untilOf(step)) ?? end?.at;
  const isAsking = events.at(-1)?.kind === "humanTask";
  const isUnderWay = activities.some(
    ({ outcome, type }) => outcome === "pending" && sendingOf(type) !== undefined,
  );
  const isBroken = end !== undefined && !end.isDone && (isCurrent || inDoubt);
  const open = isAsking ? "attention" : openStateOf(name);
  return {
    state: until === undefined ? open : isBroken ? brokenStateOf(end) : "completed",
    until,
    isReconciling: until === undefined && inDoubt && !isAsking && !isUnderWay,
  };
};
