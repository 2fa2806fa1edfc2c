import {
  describeJournalPlace,
  type Journal,
  JOURNAL_VARIABLE,
  type JournalPlace,
  JournalUnavailable,
  openJournal,
  readJournalPlace,
} from "@durable-payments/journal";
import { clientHash } from "@durable-payments/protocol/account";
import { existsSync } from "node:fs";
import { invalidInput } from "../errors.ts";

/** The journal that the workers of an account write, opened. */
export interface OpenedJournal {
  readonly journal: Journal;
  readonly place: JournalPlace;
  /** Where it is, in words. */
  readonly where: string;
}

/** The journal cannot be read here; `message` explains why. */
export class NoJournal extends Error {
  override readonly name = "NoJournal";
  /** Whether it is known where it is, and it cannot be used. */
  readonly isFault: boolean;

  constructor(message: string, { isFault }: { readonly isFault: boolean }) {
    super(message);
    this.isFault = isFault;
  }
}

/** The setting of the journal names no place. */
class WrongSetting extends NoJournal {
  constructor(message: string) {
    super(message, { isFault: true });
  }
}

/** Where the journal of an account is. It takes no secret to find it. */
export interface JournalSettings {
  /** Name of the account, where it has one. */
  readonly account?: string;
  /** Client id of the account, `PAYMENTS_CLIENT_ID`. */
  readonly clientId: string | undefined;
  /** `PAYMENTS_JOURNAL`; the account's own file on this host where it is not set. */
  readonly journal: string | undefined;
}

/** Where it is; a setting that names no place is wrong whether or not the journal is needed. */
const readPlace = (journal: string | undefined, client: string): JournalPlace => {
  try {
    return readJournalPlace(journal, client);
  } catch (error) {
    if (error instanceof JournalUnavailable) throw new WrongSetting(error.message);
    throw error;
  }
};

/** Why the client id is not known here. */
const unknownClient = (account: string | undefined): string =>
  account === undefined
    ? "PAYMENTS_CLIENT_ID is not set here"
    : `PAYMENTS_ACCOUNTS_FILE has no account ${account} here`;

const open = async ({
  account,
  clientId = "",
  journal,
}: JournalSettings): Promise<OpenedJournal> => {
  const client = clientHash({ clientId });
  try {
    const place = readPlace(journal, client);
    if (clientId === "") {
      throw new NoJournal(`${unknownClient(account)}, and the journal is found by the client id`, {
        isFault: false,
      });
    }
    const where = describeJournalPlace(place);
    if (place._tag === "None") {
      throw new NoJournal(`${JOURNAL_VARIABLE} is none`, { isFault: false });
    }
    // Only a worker makes one: an empty journal of this host would read as if nothing had been sent.
    if (place._tag === "File" && !existsSync(place.file)) {
      throw new NoJournal(
        `there is no file ${place.file}: no worker of this client has run on this host as this user, or it has another ${JOURNAL_VARIABLE}`,
        { isFault: false },
      );
    }
    return { journal: await openJournal(place, client), place, where };
  } catch (error) {
    if (error instanceof JournalUnavailable) throw new NoJournal(error.message, { isFault: true });
    throw error;
  }
};

/** The journal, or why it cannot be read here. */
export type JournalOrNot =
  | { readonly journal: Journal }
  | { readonly journal: undefined; readonly whyNot: string };

/**
 * Do something with the journal where it can be read here, and without it where it cannot.
 *
 * @param settings which journal, and of which account.
 * @param use what is done; it gets the journal, or `whyNot`.
 * @returns what `use` returns.
 * @throws InvalidInput where the setting names no place.
 */
export const withJournalOrNot = async <A>(
  settings: JournalSettings,
  use: (found: JournalOrNot) => Promise<A>,
): Promise<A> => {
  try {
    return await withJournal(settings, use);
  } catch (error) {
    if (error instanceof WrongSetting) throw invalidInput(`${error.message}. Nothing was done.`);
    if (!(error instanceof NoJournal)) throw error;
    return use({ journal: undefined, whyNot: error.message });
  }
};

/**
 * Open the journal of an account, do something, and close it.
 *
 * @param settings which journal, and of which account.
 * @param use what is done with it.
 * @returns what `use` returns.
 * @throws NoJournal where there is none to be read here, or it cannot be used.
 */
export const withJournal = async <A>(
  settings: JournalSettings,
  use: (opened: OpenedJournal) => Promise<A>,
): Promise<A> => {
  const opened = await open(settings);
  try {
    return await use(opened);
  } catch (error) {
    if (error instanceof JournalUnavailable) throw new NoJournal(error.message, { isFault: true });
    throw error;
  } finally {
    await opened.journal.close();
  }
};
