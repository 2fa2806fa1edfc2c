import { accountHash, type Account } from "@durable-payments/activities";
import {
  describeJournalPlace,
  type Journal,
  JOURNAL_VARIABLE,
  JournalUnavailable,
  openJournal,
  readJournalPlace,
} from "@durable-payments/journal";
import { CannotStart } from "./cannot-start.ts";

/**
 * Opens the journal of the account, as the environment says where it is.
 *
 * @returns the journal, and in words where it is.
 * @throws CannotStart
 */
export const journalFromEnvironment = async (
  account: Account,
): Promise<{ readonly journal: Journal; readonly where: string }> => {
  const hash = accountHash(account);
  try {
    const place = readJournalPlace(process.env[JOURNAL_VARIABLE], hash);
    return { journal: await openJournal(place, hash), where: describeJournalPlace(place) };
  } catch (error) {
    if (error instanceof JournalUnavailable) {
      throw new CannotStart(`The journal of sends cannot be used: ${error.message}.`);
    }
    throw error;
  }
};
