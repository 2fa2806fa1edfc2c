import type { Pruned } from "@durable-payments/ledger";
import { type Acting, actorOf } from "../acting.ts";
import type { Operations } from "../connection/operations.ts";
import { invalidInput } from "../errors.ts";

/**
 * Copies the ledger to a new file, while it is in use.
 *
 * @throws LedgerUnavailable with the command of the database, where it is not a file.
 */
export const backUpLedger = ({ ledger }: Pick<Operations, "ledger">, file: string): Promise<void> =>
  ledger.backup(file);

/**
 * Removes texts, amounts and logs of what was settled before a time. Ids, steps, states and what was made are kept for
 * ever, so that no id pays twice.
 *
 * @param before only what was settled before this.
 */
export const pruneLedger = (
  { ledger }: Pick<Operations, "ledger">,
  before: Date,
  acting: Acting,
): Promise<Pruned> => {
  const actor = actorOf(acting, true);
  if (Number.isNaN(before.getTime()))
    throw invalidInput("--before must be a date. Nothing was done.");
  if (before.getTime() > Date.now())
    throw invalidInput("--before must be in the past. Nothing was done.");
  return ledger.prune(before.getTime(), actor);
};
