import type { Environment } from "./environment/environment.ts";
import type { PlannedRun } from "./plan/planned-run.ts";
import type { Tally } from "./tally.ts";

/** A time, in milliseconds since 1970. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** An approval of a write by a second person. */
export interface Approved {
  readonly workflowId: string;
  readonly amount: string;
}

/** A campaign under way: all who break, start and answer share it. */
export interface Campaign {
  readonly environment: Environment;
  readonly runs: ReadonlyArray<PlannedRun>;
  readonly seed: number;
  /** Ends the work. */
  readonly signal: AbortSignal;
  readonly tally: Tally;
  /** The share of the work that is done, from 0 to 1. */
  readonly workDone: () => number;
  /**
   * Keeps freezes and pauses apart: a frozen worker sends what it was about to send when it continues, paused or not.
   */
  readonly freezing: {
    /** How many workers are frozen now. */
    frozen: number;
    /** When workers were frozen. */
    readonly freezes: Array<TimeSpan>;
    /** Whether sends are, or are about to be, paused. */
    isPausing: boolean;
  };
  /** When nothing may be made, and why. */
  readonly quiet: Array<TimeSpan & { readonly why: string }>;
  /** When a person ended or rejected a workflow id, in milliseconds since 1970. */
  readonly ended: Map<string, number>;
  /** Ids that Temporal's own tools have ended, or a person whom another one overruled. */
  readonly interrupted: Set<string>;
  /** Amounts that a second person has approved, by the write. */
  readonly approved: Array<Approved>;
  /** Problems that are not about money. */
  readonly unexpected: Array<string>;
}
