import { messageOf } from "@durable-payments/api-core/values";
import { readTextSeal } from "@durable-payments/codec";
import {
  type Ledger,
  LEDGER_VARIABLE,
  LedgerUnavailable,
  openLedger,
  readLedgerPlace,
} from "@durable-payments/ledger";
import { pollingHosts } from "../kept/pollers.ts";
import type { Client } from "@temporalio/client";
import { Runtime } from "@temporalio/worker";
import { hostname } from "node:os";
import { CannotStart } from "../cannot-start.ts";
import type { PaymentsSettings } from "../settings/payments-settings.ts";
import type { Environment } from "../settings/worker-process.ts";

/**
 * Does something with the ledger that a worker needs before it starts.
 *
 * @throws CannotStart where the ledger cannot be used.
 */
export const orCannotStart = async <A>(work: () => Promise<A>): Promise<A> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    throw new CannotStart(`The ledger cannot be used: ${messageOf(error)}.`);
  }
};

/**
 * Opens the ledger of a worker.
 *
 * @param client hash of the first account's client, after which the default file is named.
 * @throws CannotStart where it cannot be used.
 */
export const openLedgerOf = (
  { ledger }: PaymentsSettings,
  client: string,
  environment: Environment,
): Promise<Ledger> =>
  orCannotStart(() => {
    const place = readLedgerPlace(ledger ?? environment[LEDGER_VARIABLE], client);
    const seal = readTextSeal(environment);
    return openLedger(place, { ...(seal && { seal }) });
  });

/** Warns where workers of other hosts poll, too, each with another ledger. */
export const warnOfOtherHosts = async (
  ledger: Ledger,
  client: Client,
  taskQueue: string,
  draining: AbortSignal,
): Promise<void> => {
  if (!ledger.isOfOneHost) return;
  const { logger } = Runtime.instance();
  try {
    const others = (await pollingHosts(client, taskQueue)).filter((host) => host !== hostname());
    if (others.length > 0) {
      logger.warn(
        `Workers of other hosts poll, too (${others.join(", ")}), and the ledger is a file of this host: no worker knows what the others have sent. Let them share PostgreSQL: ${LEDGER_VARIABLE}=postgres://…`,
      );
    }
  } catch (error) {
    // Its connection is closed: it does not matter to this worker any more.
    if (draining.aborted) return;
    logger.warn(`Whether other hosts poll, too, cannot be seen: ${messageOf(error)}`);
  }
};
