import type { RunFilter } from "@durable-payments/ledger";
import type { Connected } from "../../src/facts/connection/connections.ts";
import { planRepair, type RepairOptions } from "../../src/actions/retry/repair.ts";
import { startRepair } from "../../src/actions/retry/start-repair.ts";

/** Plans the repair of all failed runs that match. */
export const plannedRepair = (
  connected: Connected,
  options: RepairOptions,
  filter: RunFilter = {},
) => planRepair(connected, filter, options);

/** Starts the repair of all failed runs that match. Returns its id. */
export const repaired = async (
  connected: Connected,
  options: RepairOptions,
  filter: RunFilter = {},
): Promise<string> => {
  const planned = await plannedRepair(connected, options, filter);
  return (await startRepair(connected, planned, options, "failed runs")).id;
};
