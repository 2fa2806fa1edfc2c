import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { JournalUnavailable } from "./errors.ts";
import type { Journal } from "./journal.ts";
import { makeMemoryJournal } from "./memory-journal.ts";
import { openPostgresJournal } from "./postgres-journal.ts";
import { readPostgresUrl } from "./postgres-url.ts";
import { openSqliteJournal } from "./sqlite-journal.ts";

/** Name of the environment variable that says where the journal is. */
export const JOURNAL_VARIABLE = "PAYMENTS_JOURNAL";

/** Where a journal is kept. */
export type JournalPlace =
  | { readonly _tag: "File"; readonly file: string }
  | { readonly _tag: "Postgres"; readonly address: string }
  | { readonly _tag: "None" };

const stateFolder = (): string => {
  const given = process.env["XDG_STATE_HOME"] ?? "";
  return isAbsolute(given) ? given : join(homedir(), ".local", "state");
};

/**
 * Read where the journal of a client is from `PAYMENTS_JOURNAL`: `sqlite:FILE`, `postgres://…` or
 * `none`; by default a SQLite file for the client in the user's state folder.
 *
 * @param setting value of the variable; undefined or empty for the default.
 * @param client hash of the service's client, as `clientHash` of the protocol makes it.
 * @throws JournalUnavailable that does not repeat the setting, which may hold a password.
 */
export const readJournalPlace = (setting: string | undefined, client: string): JournalPlace => {
  const given = setting?.trim() ?? "";
  if (given === "") {
    return { _tag: "File", file: join(stateFolder(), "durable-payments", `${client}.sqlite`) };
  }
  if (given === "none") return { _tag: "None" };
  if (/^postgres(ql)?:/.test(given)) return { _tag: "Postgres", address: given };
  const file = /^sqlite:(.+)$/s.exec(given)?.[1];
  if (file !== undefined) return { _tag: "File", file: resolve(file) };
  throw new JournalUnavailable(
    `${JOURNAL_VARIABLE} must be sqlite:FILE, postgres://USER:PASSWORD@HOST/DATABASE or none; unset, it is a file in your state folder`,
  );
};

/** Describe where a journal is, without user and password. */
export const describeJournalPlace = (place: JournalPlace): string => {
  switch (place._tag) {
    case "File":
      return `the file ${place.file}, which serves the workers of this host alone`;
    case "Postgres":
      return `PostgreSQL at ${readPostgresUrl(place.address).place}`;
    case "None":
      return "none: what was sent is forgotten when the worker ends, and after a restore of Temporal's database it is sent again";
  }
};

/**
 * Open a journal.
 *
 * @param place where it is kept, as `readJournalPlace` reads it.
 * @param client hash of the service's client, as `clientHash` of the protocol makes it.
 * @returns the journal; close it when the worker has drained.
 * @throws JournalUnavailable where it cannot be used, or is of a later version.
 * @example
 * ```ts
 * const place = readJournalPlace("sqlite:payments.sqlite", client);
 * const journal = await openJournal(place, client);
 * ```
 */
export const openJournal = async (place: JournalPlace, client: string): Promise<Journal> => {
  switch (place._tag) {
    case "File":
      return openSqliteJournal(place.file, client);
    case "Postgres":
      return openPostgresJournal(place.address, client);
    case "None":
      return makeMemoryJournal();
  }
};
