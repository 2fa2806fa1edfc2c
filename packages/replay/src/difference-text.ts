import type { Recorded } from "./record.ts";
import type { Replay } from "./replay.ts";

/** A difference in words. */
export interface DifferenceText {
  /** What the history has: `event 11, ACTIVITY_TASK_SCHEDULED createPayout, step createPayout`. */
  readonly history: string;
  /** What the code did instead. */
  readonly code: string;
  /** Why that is a difference. */
  readonly reason: string;
}

const recorded = (
  { name, step, type, workflowId }: Recorded,
  typeText: (type: string) => string,
): string =>
  [
    name === undefined ? typeText(type) : `${typeText(type)} ${name}`,
    ...(workflowId === undefined ? [] : [`workflow id ${workflowId}`]),
    ...(step === undefined ? [] : [`step ${step}`]),
  ].join(", ");

/**
 * Say in words where a replay differs from its history, as tools and tests show it.
 *
 * @param replay one that is not deterministic.
 * @param typeText how to show the type of an event; left out, as histories name it.
 * @returns what the history has, what the code did, and why that differs.
 */
export const differenceText = (
  { difference: { command, event }, kind, message }: Extract<Replay, { deterministic: false }>,
  typeText = (type: string): string => type,
): DifferenceText => ({
  history:
    event === undefined ? "no further event" : `event ${event.id}, ${recorded(event, typeText)}`,
  code: command === undefined ? "nothing of that kind" : recorded(command, typeText),
  reason: kind === "otherStep" ? message : `Temporal: ${message}`,
});
