import { localJournal } from "../run/activities.ts";
import type { RunState } from "../run/run-state.ts";
import { expectUnowned } from "./expect-unowned.ts";
import type { Sending } from "./send.ts";

type Found<Request extends object, A> = Pick<Sending<Request, A>, "ids" | "operation" | "step">;

/**
 * Records what a step has sent after all, as a look-up or a person found it: it is this step's alone.
 *
 * @returns who has taken it before, by the name of the step or the workflow id; undefined where nobody has.
 */
export const recordFound = async <Request extends object, A>(
  run: RunState,
  { ids, operation, step }: Found<Request, A>,
  result: A,
): Promise<string | undefined> => {
  const { owner } = await run.shielded(() =>
    localJournal.recordFound({ step, operation, ids: ids(result) }),
  );
  return owner;
};

/**
 * Takes what a person says that a step has sent, and records it: that somebody says so does not make it
 * this step's.
 *
 * @throws OwnedByOther, or an error that names who has taken it, where another run or step has it.
 */
export const takeFound = async <Request extends object, A>(
  run: RunState,
  found: Found<Request, A>,
  result: A,
): Promise<void> => {
  await expectUnowned(run, found.step, found.ids(result));
  const owner = await recordFound(run, found, result);
  if (owner !== undefined) throw new Error(`it belongs to ${owner}.`);
};
