import { stepKey } from "../../src/index.ts";

/** Answers the keys that this run gives to steps. */
export const keysOfSteps = async (steps: ReadonlyArray<string>): Promise<ReadonlyArray<string>> =>
  steps.map((step) => stepKey(step));
