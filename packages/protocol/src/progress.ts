import type { HumanTask } from "./human-task.ts";
import { defineQuery } from "./message-definitions.ts";

/** One step of a run. Times are ISO 8601. */
export interface StepProgress {
  readonly name: string;
  readonly status: "running" | "waiting" | "needsAttention" | "done" | "failed";
  readonly since: string;
  readonly until?: string;
  /** What is going on, for a person. */
  readonly note?: string;
  /** Until when it waits for that at the longest; left out where there is no end to it. */
  readonly waitsUntil?: string;
}

/** Where a run stands; the answer of the `progress` query. */
export interface Progress {
  /** Type of the workflow. */
  readonly workflow: string;
  /** Name of the current step, or how the run ended. */
  readonly stage: string;
  /** The steps so far. */
  readonly steps: ReadonlyArray<StepProgress>;
  /** Ids that are known by now: card_holder_id, payout_id, … */
  readonly ids: Readonly<Record<string, string>>;
  /** What the run shows to whom it waits for: bank details to fund a balance, say. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** What whoever reads the result should know. */
  readonly notes: ReadonlyArray<string>;
  /** What a person is asked, while one is. */
  readonly attention?: HumanTask;
}

/** Asks a run where it stands. Works for closed runs too. */
export const progressQuery = defineQuery<Progress>("progress");
