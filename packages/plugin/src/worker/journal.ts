import { pollingHosts } from "@durable-payments/activities/queue-pollers";
import {
  describeJournalPlace,
  type Journal,
  JOURNAL_VARIABLE,
  JournalUnavailable,
  openJournal,
  readJournalPlace,
} from "@durable-payments/journal";
import { findUnrecordedRun } from "@durable-payments/activities/unrecorded-run";
import { type Account, accountHash, clientHash } from "@durable-payments/protocol/account";
import type { Client } from "@temporalio/client";
import { Runtime } from "@temporalio/worker";
import { hostname } from "node:os";
import { CannotStart } from "../cannot-start.ts";
import type { AccountSettings } from "../settings/payments-settings.ts";
import type { Environment } from "../settings/worker-process.ts";

/** The journal of a worker. */
export interface OpenedJournal {
  readonly journal: Journal;
  /** Where it is, in words. */
  readonly where: string;
  /** Whether workers of other hosts do not have it. */
  readonly isOfOneHost: boolean;
}

/** Warns where workers of other hosts poll, too, each with another journal. */
export const warnOfOtherHosts = async (
  { isOfOneHost }: OpenedJournal,
  client: Client,
  taskQueue: string,
  draining: AbortSignal,
): Promise<void> => {
  if (!isOfOneHost) return;
  const { logger } = Runtime.instance();
  try {
    const others = (await pollingHosts(client, taskQueue)).filter((host) => host !== hostname());
    if (others.length > 0) {
      logger.warn(
        `Workers of other hosts poll, too (${others.join(", ")}), and the journal of sends is a file of this one: none knows what another has sent. Let them share PostgreSQL: ${JOURNAL_VARIABLE}=postgres://…`,
      );
    }
  } catch (error) {
    // Its connection is closed: it does not matter to this worker any more.
    if (draining.aborted) return;
    logger.warn(`Whether other hosts poll, too, cannot be seen: ${String(error)}`);
  }
};

/** Says where the journal lacks what runs of the account have sent: a new one was made in the place of one that is lost. */
export const warnOfLostJournal = async (
  { journal, where }: OpenedJournal,
  account: Account,
  client: Client,
  draining: AbortSignal,
): Promise<void> => {
  const { logger } = Runtime.instance();
  try {
    const run = await findUnrecordedRun(client, journal, accountHash(account));
    if (run === undefined) return;
    logger.error(
      `The journal of sends, ${where}, has nothing of the run ${run}, which has sent: it has lost its records, or is not the one that the workers wrote. Put that one back, or name it by ${JOURNAL_VARIABLE}; where it is lost, runs go on, but do not restore Temporal's database, nor start ids again that it has forgotten (docs/disaster-recovery.md).`,
    );
  } catch (error) {
    if (draining.aborted) return;
    logger.warn(`Whether the journal of sends is whole cannot be seen: ${String(error)}`);
  }
};

/**
 * Open the journal of an account's client.
 *
 * @param settings say where it is; where they do not, `PAYMENTS_JOURNAL` does.
 * @throws CannotStart where it cannot be written.
 */
export const openJournalOf = async (
  account: Pick<Account, "clientId">,
  settings: AccountSettings,
  environment: Environment,
): Promise<OpenedJournal> => {
  const hash = clientHash(account);
  try {
    const place = readJournalPlace(settings.journal ?? environment[JOURNAL_VARIABLE], hash);
    return {
      journal: await openJournal(place, hash),
      where: describeJournalPlace(place),
      isOfOneHost: place._tag === "File",
    };
  } catch (error) {
    if (error instanceof JournalUnavailable) {
      throw new CannotStart(`The journal of sends cannot be used: ${error.message}.`);
    }
    throw error;
  }
};
