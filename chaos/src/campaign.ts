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
  /** Aborted when the work is done, the time is up, or the user interrupts it. */
  readonly signal: AbortSignal;
  readonly done: AbortController;
  readonly tally: Tally;
  readonly started: Array<PlannedRun>;
  /** How many runs were open when they were last counted, and those started since. */
  open: number;
  /**
   * Keeps freezes and pauses apart: a frozen worker sends what it was about to send when it continues, paused or not.
   */
  readonly freezing: {
    /** How many workers are frozen now. */
    count: number;
    /** Whether sends are, or are about to be, paused. */
    isPausing: boolean;
  };
  /** When a worker was frozen: it sends what it was about to send when it continues. */
  readonly frozen: Array<TimeSpan>;
  /** When nothing may be made, and why. */
  readonly quiet: Array<TimeSpan & { readonly why: string }>;
  /** When a person ended or rejected a workflow id, in milliseconds since 1970. */
  readonly ended: Map<string, number>;
  /** Ids that Temporal's own tools have ended, or a person whom another one overruled. */
  readonly interrupted: Set<string>;
  /** Amounts that a second person has approved, by the write. */
  readonly approved: Array<Approved>;
  /** The ledger was restored at this time: it need not know what was made before. */
  forgottenBefore: number | undefined;
  /** Whether Temporal was restored: people start again what it has forgotten, by the first input. */
  isTemporalRestored: boolean;
  /** Problems that are not about money. */
  readonly unexpected: Array<string>;
}

/** Returns the share of the work that is done, from 0 to 1. */
export const workDone = ({ open, runs, started }: Campaign): number =>
  (2 * started.length - open) / (2 * runs.length);
