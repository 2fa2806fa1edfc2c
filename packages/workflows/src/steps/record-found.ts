import { localJournal } from "../run/activities.ts";
import type { Run } from "../run/run.ts";
import type { Sending } from "./send.ts";

/**
 * Records what a step has sent after all, as a look-up or a person found it: it is this step's alone.
 *
 * @returns who has taken it before, by the name of the step or the workflow id; undefined where nobody has.
 */
export const recordFound = async <Request extends object, A>(
  run: Run,
  { ids, operation, step }: Pick<Sending<Request, A>, "ids" | "operation" | "step">,
  result: A,
): Promise<string | undefined> => {
  const { owner } = await run.shielded(() =>
    localJournal.recordFound({ step, operation, ids: ids(result) }),
  );
  return owner;
};
