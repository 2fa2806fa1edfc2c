import { ownershipKeys } from "@durable-payments/protocol";
import { activities } from "../run/activities.ts";
import { runFailure } from "../run/failures.ts";
import type { RunState } from "../run/run-state.ts";

/**
 * Expects that nobody else owns what these ids name: what another run or step has made is not what
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
  const claims = ownershipKeys(ids);
  const sibling = run
    .siblings(step)
    .find((other) => claims.some((claim) => other.claims.includes(claim)));
  const [owner] =
    sibling === undefined ? Object.values(await activities.findOwners(claims)) : [sibling.step];
  if (owner === undefined) return;
  throw runFailure("OwnedByOther", `${Object.values(ids).join()} belongs to ${owner}.`);
};
