import type { Connected } from "@durable-payments/control/connection";
import type { Environment } from "./environment/environment.ts";
import type { ChaosOptions } from "./options.ts";
import type { PlannedRun } from "./plan/planned-run.ts";
import type { Tally } from "./tally.ts";

/** A time, in milliseconds since 1970. */
interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** An approval of a write by a second person. */
export interface Approved {
  readonly workflowId: string;
  readonly amount: string;
}

/** A campaign under way: all who break, start and answer share it. */
export type Campaign = ReturnType<typeof startCampaign>;

/** Starts the time of a campaign. */
export const startCampaign = (
  { minutes, seed }: ChaosOptions,
  parts: {
    readonly environment: Environment;
    readonly runs: ReadonlyArray<PlannedRun>;
    readonly tally: Tally;
  },
  interruption: AbortSignal,
) => {
  const done = new AbortController();
  const timeIsUp = AbortSignal.timeout(minutes * 60_000);
  const restored: { forgottenBefore?: number; isTemporalRestored?: true } = {};
  const signal = AbortSignal.any([interruption, timeIsUp, done.signal]);
  return {
    ...parts,
    seed,
    done,
    /** Aborted when the work is done, the time is up, or the user interrupts it. */
    signal,
    /** Calls actions of the project as `environment.operate` does, until the signal is aborted. */
    operate: <A>(use: (operations: Connected) => Promise<A>): Promise<A | undefined> =>
      parts.environment.operate(use, signal),
    started: Array.of<PlannedRun>(),
    /** How many runs were open when they were last counted, and those started since. */
    open: 0,
    /**
     * Keeps freezes and pauses apart: a frozen worker sends what it was about to send when it continues, paused or not.
     * `count` is of the workers that are frozen now; sends are, or are about to be, paused.
     */
    freezing: { count: 0, isPausing: false },
    /** When a worker was frozen: it sends what it was about to send when it continues. */
    frozen: Array.of<TimeSpan>(),
    /** When nothing may be made, and why. */
    quiet: Array.of<TimeSpan & { readonly why: string }>(),
    /** When a person ended or rejected a workflow id, in milliseconds since 1970. */
    ended: new Map<string, number>(),
    /** Ids that Temporal's own tools have ended, or a person whom another one overruled. */
    interrupted: new Set<string>(),
    /** Amounts that a second person has approved, by the write. */
    approved: Array.of<Approved>(),
    /**
     * The ledger was restored at `forgottenBefore`: it need not know what was made before. Temporal was restored: people
     * start again what it has forgotten, by the first input.
     */
    restored,
    /** Problems that are not about money. */
    unexpected: Array.of<string>(),
    /** The share of the work that is done, from 0 to 1. */
    get workDone(): number {
      return (2 * this.started.length - this.open) / (2 * this.runs.length);
    },
  };
};
