import { STEP } from "@durable-payments/protocol";
import { accountPin } from "../run/account-pin.ts";
import { localActivities } from "../run/activities.ts";
import { type Run, stateOf } from "../run/run.ts";

/**
 * Check the input of a run by the schema that its worker has of it, before anything is sent, and pin the run to the
 * account of that worker: `makePaymentsActivities(runtime, { inputs: { payTwo: { schema } } })`.
 *
 * @param run begun with its input.
 * @returns the input, as it was started or amended.
 * @throws InvalidRequest, which names every fault, and where the worker has no schema of the workflow's input.
 * @example
 * ```ts
 * const { first, second } = await checkInput(run);
 * ```
 */
export const checkInput = <Input>(run: Run<Input>): Promise<Input> =>
  stateOf(run).step(
    STEP.checkInput,
    "checking the input",
    async () => {
      const input = await run.input();
      accountPin().know(await localActivities.checkOwnInput({ input }));
      return input;
    },
    { isSearchable: false },
  );
