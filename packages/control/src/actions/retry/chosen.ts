import type { Ledger, RunFilter } from "@durable-payments/ledger";
import { invalidInput, notFound } from "../../errors.ts";

/**
 * Checks the names by which failed runs are chosen: a mistyped one would look as if nothing had failed.
 *
 * @throws NotFound if there is no such batch, repair or group; InvalidInput if a batch is given as a repair, or a repair as a
 *   batch.
 */
export const checkChosen = async (ledger: Ledger, filter: RunFilter): Promise<void> => {
  for (const name of ["batch", "repair"] as const) {
    const id = filter[name];
    if (id === undefined) continue;
    const found = await ledger.batch(id);
    if (found === undefined) throw notFound(`There is no ${name} ${id}. Nothing was done.`);
    if ((found.type === "repair") !== (name === "repair"))
      throw invalidInput(
        `${id} is no ${name}: give it as the ${name === "repair" ? "batch" : "repair"}. Nothing was done.`,
      );
  }
  const { group } = filter;
  if (group !== undefined && (await ledger.failures(filter)).length === 0)
    throw notFound(`No failed run that matches is in the group ${group}. Nothing was done.`);
};
