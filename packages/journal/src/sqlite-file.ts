import { closeSync, existsSync, mkdirSync, openSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { JournalUnavailable, messageOf, newerVersion } from "./errors.ts";

/** Marks a SQLite file as a journal: "DPJ1". */
const APPLICATION_ID = 0x44504a31;

/** The steps that make the tables, oldest first; a journal's version is the number of them it has. */
const MIGRATIONS: ReadonlyArray<string> = [
  `CREATE TABLE sends (
     account TEXT NOT NULL,
     workflow_id TEXT NOT NULL,
     step TEXT NOT NULL,
     number INTEGER NOT NULL,
     operation TEXT NOT NULL,
     run_id TEXT NOT NULL,
     request_key TEXT,
     payload_hash TEXT NOT NULL,
     amount TEXT,
     currency TEXT,
     is_undone INTEGER NOT NULL,
     begun_by TEXT NOT NULL,
     begun_at INTEGER NOT NULL,
     outcome TEXT NOT NULL,
     settled_at INTEGER,
     ids TEXT NOT NULL,
     PRIMARY KEY (account, workflow_id, step, number)
   ) STRICT;
   CREATE INDEX sends_begun ON sends (account, begun_at);
   CREATE INDEX sends_made ON sends (account, operation, settled_at) WHERE outcome = 'carriedOut';
   CREATE TABLE key_echoes (
     account TEXT NOT NULL,
     operation TEXT NOT NULL,
     echo TEXT NOT NULL,
     answers INTEGER NOT NULL,
     PRIMARY KEY (account, operation, echo)
   ) STRICT;
   CREATE TABLE list_lags (
     account TEXT NOT NULL,
     list TEXT NOT NULL,
     lag_ms INTEGER NOT NULL,
     PRIMARY KEY (account, list)
   ) STRICT;`,
  `ALTER TABLE sends ADD COLUMN made_id TEXT;
   UPDATE sends SET made_id = CASE operation
     WHEN 'createPayout' THEN ids ->> 'payout_id'
     WHEN 'createCardholder' THEN ids ->> 'card_holder_id'
     WHEN 'createBeneficiary' THEN ids ->> 'beneficiary_id'
     WHEN 'createCard' THEN ids ->> 'card_id'
   END;
   CREATE INDEX sends_by_made_id ON sends (account, operation, made_id) WHERE made_id IS NOT NULL;`,
  `ALTER TABLE sends ADD COLUMN payee TEXT;
   CREATE INDEX sends_by_payee ON sends (account, payee) WHERE payee IS NOT NULL;`,
];

/** How long SQLite itself waits for another process's write; the thread stands still meanwhile. */
const BUSY_TIMEOUT_MS = 200;

/** How long a file is tried to be opened that other workers, started at the same moment, make just now. */
const OPENED_WITHIN_MS = 10_000;

/** Time between two tries to open it. */
const OPEN_AGAIN_AFTER_MS = 20;

const SQLITE_BUSY = 5;

/** Whether a write of another process is in the way. */
export const isBusy = (error: unknown): boolean =>
  // The lower byte is the kind of the error.
  error instanceof Error &&
  "errcode" in error &&
  typeof error.errcode === "number" &&
  (error.errcode & 0xff) === SQLITE_BUSY;

/** SQLite does not wait by itself where a file becomes one with a log of writes. */
const onceNotBusy = <A>(work: () => A): A => {
  const until = performance.now() + OPENED_WITHIN_MS;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OPEN_AGAIN_AFTER_MS);
    }
  }
};

/** File systems of a network by the type that `statfs` gives: locks and shared memory do not hold there. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x5346414f, "AFS"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x01021997, "9P"],
]);

/** Name of a network's file system, or undefined for one of this machine. `type`: of `statfs`. */
export const networkFileSystem = (type: number): string | undefined =>
  NETWORK_FILE_SYSTEMS.get(type);

const cannotOpen = (file: string, why: string): JournalUnavailable =>
  new JournalUnavailable(
    `the journal's file ${file} cannot be opened for writing (${why}); make its folder writable, or name another file by PAYMENTS_JOURNAL=sqlite:FILE`,
  );

const isHeld = (file: string, why: string): JournalUnavailable =>
  new JournalUnavailable(
    `the journal's file ${file} cannot be opened (${why}); end the process that holds it, such as a shell of sqlite3`,
  );

/** Node's own `recursive` tries for ever where a folder exists in which none can be made, such as /proc. */
const makeFolder = (folder: string): void => {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, 0o700);
  } catch (error) {
    // Another worker that starts at the same moment may have made it.
    if (!existsSync(folder)) throw error;
  }
};

const prepareFile = (file: string): void => {
  try {
    makeFolder(dirname(file));
    // To open a pipe for writing waits until somebody reads it.
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) {
      throw cannotOpen(file, "it is a folder, a device or a pipe, not a regular file");
    }
    closeSync(openSync(file, "a", 0o600));
  } catch (error) {
    throw error instanceof JournalUnavailable ? error : cannotOpen(file, messageOf(error));
  }
  const network = networkFileSystem(statfsSync(file).type);
  if (network !== undefined) {
    throw cannotOpen(
      file,
      `it lies on a network's file system, ${network}, which does not keep two hosts apart: use a disk of this host, or PostgreSQL`,
    );
  }
};

const pragma = (database: DatabaseSync, name: string): unknown =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];

const migrate = (database: DatabaseSync, file: string): void => {
  const version = Number(pragma(database, "user_version"));
  if (version > MIGRATIONS.length) {
    throw newerVersion(`the journal's file ${file}`, version, MIGRATIONS.length);
  }
  if (version === MIGRATIONS.length) return;
  const tables = database.prepare("SELECT count(*) AS found FROM sqlite_schema").get()?.["found"];
  if (version === 0 && tables !== 0) {
    throw cannotOpen(file, "it is a SQLite database of something else");
  }
  for (const migration of MIGRATIONS.slice(version)) database.exec(migration);
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
};

/** Run `work` in a transaction that may write, or not at all. */
export const inTransaction = <A>(database: DatabaseSync, work: () => A): A => {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
};

/**
 * Open a journal's file, which it makes where there is none, readable by its owner alone.
 *
 * @returns the database, and whether the file is still the one that was opened.
 * @throws JournalUnavailable
 */
export const openSqliteFile = (
  file: string,
): { readonly database: DatabaseSync; readonly isInPlace: () => boolean } => {
  prepareFile(file);
  const { dev, ino } = statSync(file);
  try {
    const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    try {
      if (onceNotBusy(() => pragma(database, "journal_mode = WAL")) !== "wal") {
        throw cannotOpen(file, "its file system has no shared memory, which a log of writes needs");
      }
      database.exec("PRAGMA synchronous = FULL");
      // Version and tables are seen and made by one process at a time.
      onceNotBusy(() => inTransaction(database, () => migrate(database, file)));
    } catch (error) {
      database.close();
      throw error;
    }
    const isInPlace = () => {
      const found = statSync(file, { throwIfNoEntry: false });
      return found?.ino === ino && found.dev === dev;
    };
    return { database, isInPlace };
  } catch (error) {
    if (error instanceof JournalUnavailable) throw error;
    throw isBusy(error) ? isHeld(file, messageOf(error)) : cannotOpen(file, messageOf(error));
  }
};
