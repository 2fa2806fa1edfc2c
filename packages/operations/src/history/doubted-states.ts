import type { StepState } from "../runs/state-name.ts";
import type { DoubtedStep } from "./doubted-step.ts";
import type { SettledDoubt } from "./in-doubt.ts";

/**
 * Show steps of an ended run as what is known of their sends: neither the run's own account nor its history knows
 * whether something in doubt was done, nor what a person has found since.
 */
export const withDoubts = <Step extends { readonly name: string; readonly state: StepState }>(
  steps: ReadonlyArray<Step>,
  {
    inDoubt,
    settled,
  }: {
    readonly inDoubt: ReadonlyArray<DoubtedStep>;
    readonly settled: ReadonlyArray<SettledDoubt>;
  },
): ReadonlyArray<Step> =>
  steps.map((step) => {
    if (inDoubt.some((doubt) => doubt.step === step.name)) return { ...step, state: "inDoubt" };
    const isNotDone = settled.some((one) => one.step === step.name && one.found === null);
    return isNotDone && step.state === "completed" ? { ...step, state: "failed" } : step;
  });
