import { invalidInput } from "../errors.ts";
import type { Deciding } from "../facts/connection/connections.ts";
import { type Acting, actorOf } from "./decide/record.ts";

/** Nobody hides a payment, and who approved it, before it was audited: no setting makes this less. */
const LEAST_AGE_DAYS = 90;

const DAY_MS = 86_400_000;

/** How old texts and logs are removed. */
export interface PruneOptions extends Acting {
  /** Only runs whose writes were completed before then. */
  readonly before: Date;
  /** The setting `keepDays`: nothing younger is removed; default and least 90. */
  readonly keepDays?: number | undefined;
  /** Called after each part with the number of runs so far. */
  readonly onPart?: (runs: number) => void;
}

/**
 * Removes the texts, payees and logs of old runs. It is a decision, with a name and a reason.
 *
 * @returns the number of runs.
 * @throws InvalidInput without a name or reason, or if `before` is invalid, or too recent by the ledger's clock.
 */
export const prune = async (
  { ledger }: Pick<Deciding, "ledger">,
  { before, keepDays = LEAST_AGE_DAYS, onPart, ...acting }: PruneOptions,
): Promise<number> => {
  const actor = actorOf(acting, true);
  // It may come from JavaScript, and an invalid time is older than none.
  if (!(before instanceof Date) || Number.isNaN(before.getTime()))
    throw invalidInput("before must be a valid Date. Nothing was done.");
  const days = Math.max(LEAST_AGE_DAYS, keepDays);
  const { now } = await ledger.state();
  if (before.getTime() > now - days * DAY_MS)
    throw invalidInput(
      `Prune removes only what was completed ${days} days ago or earlier (keepDays): give an earlier time. Nothing was done.`,
    );
  return ledger.prune(before.getTime(), actor, onPart);
};
