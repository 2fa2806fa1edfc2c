import { planOnboardings } from "./plan-onboardings.ts";
import { planPayouts } from "./plan-payouts.ts";
import type { ExistingBeneficiary, PlannedRun } from "./planned-run.ts";

/** Starts are spread over this time for each run. */
const START_EVERY_MS = 150;

/** Time within which all runs are started. */
export const startingTimeMs = (runs: number): number => Math.max(8_000, runs * START_EVERY_MS);

/** What decides which runs are planned. */
export interface PlanOptions {
  readonly runs: number;
  readonly seed: number;
  /** Whether the server's database is put back: then no run is terminated, as it could not ask any more. */
  readonly restore?: boolean;
}

/** Plan every run of a chaos run, in the order in which they start: 40 of 100 are onboardings. */
export const planRuns = (
  { restore = false, runs, seed }: PlanOptions,
  existing: readonly [ExistingBeneficiary, ...ExistingBeneficiary[]],
): readonly PlannedRun[] => {
  const onboardings = Math.floor(runs * 0.4);
  const spreadMs = startingTimeMs(runs);
  return [...planOnboardings(onboardings, seed), ...planPayouts(runs - onboardings, seed, existing)]
    .map((run) => ({
      ...run,
      intervention:
        restore && run.intervention?.kind === "terminate" ? undefined : run.intervention,
      startAtMs: Math.round(run.startAtMs * spreadMs),
    }))
    .toSorted((one, other) => one.startAtMs - other.startAtMs);
};
