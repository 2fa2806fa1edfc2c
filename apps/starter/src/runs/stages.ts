import { UNFINISHED } from "@durable-payments/activities/search-attributes";
import { type Event, searchAttributeOf } from "./history-steps.ts";

/** The stage of a run that asks a person, whichever step it is at. */
export const ASKS = "needsAttention";

const LEFT_OVER = "undo: ";

/** The stage that an event writes, if it writes one. */
export const stageOf = (event: Event): string | undefined => {
  const stage = searchAttributeOf(event, "PaymentStage");
  return typeof stage === "string" ? stage : undefined;
};

/**
 * What could not be undone, where a stage tells that: `cancel the card`. What was undone writes no
 * stage: the run stays to be found by the step that failed.
 */
export const leftOverOf = (stage: string): string | undefined =>
  stage.startsWith(LEFT_OVER) ? stage.slice(LEFT_OVER.length) : undefined;

/** Whether a stage is a step of its own, and not what happens to one. */
export const isStep = (stage: string): boolean =>
  stage !== ASKS && stage !== UNFINISHED && leftOverOf(stage) === undefined;
