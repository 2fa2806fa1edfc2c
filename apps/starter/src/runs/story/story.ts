import type { Failure } from "../failure.ts";
import type { ListedState } from "../run-list.ts";

/** An activity of a step. Times are ISO 8601. */
export interface StoryActivity {
  readonly kind: "activity";
  readonly activity: string;
  /** What it is for, as the workflow says it. */
  readonly summary: string | null;
  readonly since: string;
  readonly until: string | null;
  readonly tookMs: number | null;
  readonly outcome: "done" | "failed" | "timedOut" | "cancelled" | "pending";
  /** How often it was tried, or looked. */
  readonly attempts: number;
  /** What it failed with, or what its last attempt but one did. */
  readonly failure: Failure | null;
  /** When a pending one is tried again. */
  readonly nextAttemptAt: string | null;
}

/** A pause that the workflow made. */
export interface StoryTimer {
  readonly kind: "timer";
  readonly summary: string | null;
  readonly since: string;
  readonly until: string | null;
  readonly tookMs: number | null;
}

/** A step began to wait for a person. */
export interface StoryQuestion {
  readonly kind: "question";
  readonly since: string;
}

/** Something that the run was to undo after its failure, and could not. */
export interface StoryLeftOver {
  readonly kind: "leftOver";
  /** What is left to do, as the workflow says it: `cancel the card`. */
  readonly what: string;
  readonly at: string;
}

/** Something that the run was told: by a person (update), or by a signal. */
export interface StoryMessage {
  readonly kind: "update" | "signal";
  readonly name: string;
  readonly at: string;
  /** Who decided, where it was a person. */
  readonly by: string | null;
  /** What was decided; the values of an amendment are left out. */
  readonly what: string | null;
}

/** Something that happened in a step. */
export type StoryEvent = StoryActivity | StoryTimer | StoryQuestion | StoryLeftOver | StoryMessage;

/** One step of a run. */
export interface StoryStep {
  readonly name: string;
  readonly outcome: "done" | "failed" | "cancelled" | "running";
  readonly since: string;
  readonly until: string | null;
  readonly tookMs: number | null;
  readonly events: ReadonlyArray<StoryEvent>;
}

/** A run that was reset goes on as another run, which keeps the history up to the reset. */
export interface Reset {
  readonly runId: string;
  /** When this run began where the other one was left. */
  readonly at: string;
  readonly reason: string;
}

/** What can be done about a run, and by which command. */
export interface NextStep {
  readonly why: string;
  readonly command: ReadonlyArray<string>;
}

/** The story of one run, from its history. */
export interface Story {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  /** What the run is to do, as whoever started it said it. */
  readonly summary: string | null;
  readonly state: ListedState | "continuedAsNew";
  readonly startedAt: string;
  readonly startedBy: string | null;
  readonly closedAt: string | null;
  readonly currency: string | null;
  readonly paymentIds: ReadonlyArray<string>;
  /** The run that this one was reset from. */
  readonly resetFrom: Reset | null;
  /** Run id of a later run of the same workflow id, which tells how it went on. */
  readonly laterRun: string | null;
  readonly steps: ReadonlyArray<StoryStep>;
  readonly result: unknown;
  readonly failure: Failure | null;
  /** Why the worker cannot go on with it at present. */
  readonly workerFault: string | null;
  readonly next: ReadonlyArray<NextStep>;
  readonly webUi: string | null;
}
