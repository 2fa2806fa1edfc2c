import { activities } from "../run/activities.ts";
import { runFailure } from "../run/failures.ts";
import type { Run } from "../run/run.ts";

/**
 * Expects that nobody else owns these ids: what another run or step has made is not what this step
 * sent, whoever says so.
 *
 * @throws OwnedByOther where another run, or another step of this run, owns one.
 */
export const expectUnowned = async (
  run: Run,
  step: string,
  ids: ReadonlyArray<string>,
): Promise<void> => {
  const sibling = run.siblings(step).find((other) => ids.some((id) => other.ids.includes(id)));
  const [owned] = Object.entries(
    sibling === undefined ? await activities.findOwners(ids) : { [ids.join()]: sibling.step },
  );
  if (owned === undefined) return;
  const [id, owner] = owned;
  throw runFailure("OwnedByOther", `${id} belongs to ${owner}.`);
};
