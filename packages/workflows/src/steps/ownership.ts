import { ownershipKeys } from "@durable-payments/protocol";
import { activities, localJournal } from "../run/activities.ts";
import { runFailure } from "../run/failures.ts";
import type { RunState } from "../run/run-state.ts";
import type { Write } from "./write.ts";

type Found<Request extends object, A> = Pick<Write<Request, A>, "ids" | "operation" | "step">;

/**
 * Record what a step has sent after all, as the list showed it or a person found it: no other step may
 * take it.
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
 * Expect that nobody else owns what these ids name: what another run or step has made is not what
 * this step sent, whoever says so.
 *
 * @param ids by the service's name of their field.
 * @throws OwnedByOther where another run, or another step of this run, owns one.
 */
export const expectUnowned = async (
  run: RunState,
  step: string,
  ids: Readonly<Record<string, string>>,
): Promise<void> => {
  const keys = ownershipKeys(ids);
  const sibling = run.sends
    .siblings(step)
    .find((other) => keys.some((key) => other.owned.includes(key)));
  const [owner] =
    sibling === undefined ? Object.values(await activities.findOwners(keys)) : [sibling.step];
  if (owner === undefined) return;
  throw runFailure("OwnedByOther", `${Object.values(ids).join()} belongs to ${owner}.`);
};

/**
 * Take what a person says that a step has sent, and record it: another run or step may own it.
 *
 * @throws OwnedByOther, or an error that names who has taken it, where another run or step has it.
 */
export const takeAsOwn = async <Request extends object, A>(
  run: RunState,
  found: Found<Request, A>,
  result: A,
): Promise<void> => {
  await expectUnowned(run, found.step, found.ids(result));
  const owner = await recordFound(run, found, result);
  if (owner !== undefined) throw new Error(`it belongs to ${owner}.`);
};
