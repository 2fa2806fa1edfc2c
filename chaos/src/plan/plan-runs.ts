import { planOnboardings } from "./plan-onboardings.ts";
import { planPayouts } from "./plan-payouts.ts";
import type { ExistingBeneficiary, PlannedRun } from "./planned-run.ts";

/** Starts are spread over this time for each run. */
const START_EVERY_MS = 150;

/** Plans every run of a campaign, in the order in which they start: 40 of 100 are onboardings. */
export const planRuns = (
  {
    isSimulator,
    runs,
    seed,
  }: { readonly runs: number; readonly seed: number; readonly isSimulator: boolean },
  existing: ReadonlyArray<ExistingBeneficiary>,
): ReadonlyArray<PlannedRun> => {
  const onboardings = Math.floor(runs * 0.4);
  const spreadMs = Math.max(8_000, runs * START_EVERY_MS);
  return [
    ...planOnboardings(onboardings, seed, isSimulator),
    ...planPayouts(runs - onboardings, seed, { existing, isSimulator }),
  ]
    .map((run) => ({ ...run, startAtMs: Math.round(run.startAtMs * spreadMs) }))
    .toSorted((one, other) => one.startAtMs - other.startAtMs);
};
