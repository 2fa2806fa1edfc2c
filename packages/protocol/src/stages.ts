import { stepKinds, type StepKind } from "./steps.ts";

/** The stage of a run that asks a person, whichever step it is at. */
export const NEEDS_ATTENTION = "needsAttention";

/** The stage of a run that ended while its payout was open still, at the end of `completeWithin`. */
export const UNFINISHED = "unfinished";

const UNDO_FAILED = "undo: ";

/** Name the stage of a run that could not undo something: `undo: cancel the card`. */
export const undoFailedStage = (what: string): string => `${UNDO_FAILED}${what}`;

/**
 * Read what could not be undone, where a stage says so: `cancel the card`. What was undone writes no
 * stage: the run stays to be found by the step that failed.
 */
export const undoFailedIn = (stage: string): string | undefined =>
  stage.startsWith(UNDO_FAILED) ? stage.slice(UNDO_FAILED.length) : undefined;

/** Check whether a stage is a step, and not what happens to one. */
export const isStep = (stage: string): boolean =>
  stage !== NEEDS_ATTENTION && stage !== UNFINISHED && undoFailedIn(stage) === undefined;

const stepsWhere = (is: (kind: StepKind) => boolean): ReadonlyArray<string> =>
  Object.entries(stepKinds).flatMap(([name, kind]) => (is(kind) ? [name] : []));

/** Stages at which a run waits for a person. */
export const askingStages: ReadonlyArray<string> = [
  NEEDS_ATTENTION,
  ...stepsWhere(({ asks }) => asks === true),
];

/** Whether a run waits for a person at a stage: a step that is taken once more has a number. */
export const isAskingStage = (stage: string): boolean =>
  askingStages.some((asking) => stage === asking || stage.startsWith(`${asking} `));

/** Stages at which a run has sent what it had to, or waits for a person: it holds no slot of its batch. */
export const stagesWithoutSlot: ReadonlyArray<string> = [
  ...stepsWhere(({ waits }) => waits === true),
  NEEDS_ATTENTION,
];
