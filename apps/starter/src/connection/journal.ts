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

/** The journal that the workers of an account write, opened. */
export interface OpenedJournal {
  readonly journal: Journal;
  readonly place: JournalPlace;
  /** Where it is, in words. */
  readonly where: string;
}

/** The journal cannot be read here; the message says why. */
export class NoJournal extends Error {
  override readonly name = "NoJournal";
  /** Whether it is known where it is, and it cannot be used. */
  readonly isFault: boolean;

  constructor(message: string, { isFault }: { readonly isFault: boolean }) {
    super(message);
    this.isFault = isFault;
  }
}

/** Whose journal it is; it takes no secret to find it. */
const clientFromEnvironment = (): string => {
  const clientId = process.env["PAYMENTS_CLIENT_ID"] ?? "";
  if (clientId === "") {
    throw new NoJournal("PAYMENTS_CLIENT_ID is not set here, which says whose journal it is", {
      isFault: false,
    });
  }
  return clientHash({ clientId });
};

const open = async (): Promise<OpenedJournal> => {
  const client = clientFromEnvironment();
  try {
    const place = readJournalPlace(process.env[JOURNAL_VARIABLE], client);
    const where = describeJournalPlace(place);
    if (place._tag === "None") {
      throw new NoJournal(`${JOURNAL_VARIABLE} is none`, { isFault: false });
    }
    // Only a worker makes one: an empty journal of this host would look as if nothing had been sent.
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

/** Does something with the journal where it can be read here, and without it where it cannot. */
export const withJournalOrNot = async <A>(use: (found: JournalOrNot) => Promise<A>): Promise<A> => {
  try {
    return await withJournal(use);
  } catch (error) {
    if (!(error instanceof NoJournal)) throw error;
    return use({ journal: undefined, whyNot: error.message });
  }
};

/**
 * Opens the journal of the account that the environment names, and closes it afterwards.
 *
 * @throws NoJournal where there is none to be read here, or it cannot be used.
 */
export const withJournal = async <A>(use: (opened: OpenedJournal) => Promise<A>): Promise<A> => {
  const opened = await open();
  try {
    return await use(opened);
  } catch (error) {
    if (error instanceof JournalUnavailable) throw new NoJournal(error.message, { isFault: true });
    throw error;
  } finally {
    await opened.journal.close();
  }
};
