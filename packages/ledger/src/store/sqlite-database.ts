import { messageOf } from "@durable-payments/client/values";
import { closeSync, existsSync, mkdirSync, openSync, statfsSync, statSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import {
  Database,
  type Found,
  LedgerUnavailable,
  DISK_FULL,
  UniqueViolation,
  type Work,
} from "./store.ts";
import type { Query, SqlRow, SqlValue } from "./table.ts";
import { missingMigrations, type TableOptions, type Version } from "./migrate.ts";
import { migrations } from "./migrations.ts";
import { setImmediate as endOfTurn } from "node:timers/promises";
import { type AggregateOptions, backup, DatabaseSync, type StatementSync } from "node:sqlite";

/** Network file systems by the type of `statfs`: locks and shared memory do not work there. */
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

/** Returns the error of a file that cannot be the ledger. It never advises another file, which would lack the payments. */
const cannotOpen = (file: string, why: string, advice = "correct PAYMENTS_LEDGER=sqlite:FILE") =>
  new LedgerUnavailable(
    `the ledger's file ${file} cannot be opened for writing (${why}); ${advice}`,
  );

/** Node's own `recursive` tries forever if a folder exists in which none can be made, such as /proc. */
const makeFolder = (folder: string): void => {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, 0o700);
  } catch (error) {
    // Another worker that starts at the same moment may have created it.
    if (!existsSync(folder)) throw error;
  }
};

/** Creates the file, readable only by its owner. Returns whether it is still the same. */
const prepareFile = (file: string, { isMigrated = true }: TableOptions): (() => boolean) => {
  if (!isMigrated && !existsSync(file)) {
    throw new LedgerUnavailable(
      `there is no file ${file}: no worker of this client has run on this host as this user, or the worker uses another PAYMENTS_LEDGER`,
    );
  }
  try {
    makeFolder(dirname(file));
    // Opening a pipe for writing would wait for a reader.
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) {
      throw cannotOpen(file, "it is a folder, a device or a pipe, not a regular file");
    }
    closeSync(openSync(file, "a", 0o600));
  } catch (error) {
    if (error instanceof LedgerUnavailable) throw error;
    throw cannotOpen(file, messageOf(error), "allow this user to write the file and its folder");
  }
  const network = NETWORK_FILE_SYSTEMS.get(statfsSync(file).type);
  if (network !== undefined) {
    throw cannotOpen(
      file,
      `it is on a network file system, ${network}, which cannot exclude a second host: use a local disk, or PostgreSQL`,
    );
  }
  const { dev, ino } = statSync(file);
  return () => {
    const found = statSync(file, { throwIfNoEntry: false });
    return found?.ino === ino && found.dev === dev;
  };
};

/** Marks a SQLite file as a ledger: "DPL1". */
const APPLICATION_ID = 0x44504c31;

const NOW = "ledger_now()";

const MIGRATIONS = migrations("INTEGER PRIMARY KEY", {
  now: NOW,
  trigger: (name, head, insert) => `CREATE TRIGGER ${name} ${head} BEGIN ${insert}; END`,
});

/** How long SQLite itself waits for another process's write; this blocks the thread. */
const BUSY_TIMEOUT_MS = 200;

/** How long work waits for the writes of other processes. */
const BUSY_FOR_MS = 5_000;

/** Time between two attempts to open a file that another worker is creating. */
const OPEN_AGAIN_AFTER_MS = 20;

const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
const SQLITE_CONSTRAINT_UNIQUE = 2067;

const codeOf = (error: unknown): number =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode
    : 0;

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const CORRUPT: ReadonlySet<number> = new Set([11, 26]);

/** Returns whether the write of another process blocks this one: the lower byte is the kind of the error. */
const isBusy = (error: unknown): boolean => (codeOf(error) & 0xff) === SQLITE_BUSY;

/** SQLite does not wait while a file is converted to a write-ahead log. */
const onceNotBusy = <A>(work: () => A): A => {
  const until = performance.now() + 2 * BUSY_FOR_MS;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OPEN_AGAIN_AFTER_MS);
    }
  }
};

const pragma = (database: DatabaseSync, name: string): unknown =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];

const inTransaction = <A>(database: DatabaseSync, begin: string, work: () => A): A => {
  database.exec(begin);
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
};

const versionOf = (database: DatabaseSync, place: string): Version => {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  if (tables.length === 0) return { version: 0, least: 0 };
  if (!tables.some(({ name }) => name === "schema_version")) {
    throw cannotOpen(place, "it is the SQLite database of another program");
  }
  const found = database
    .prepare("SELECT max(version) AS version, max(least) AS least FROM schema_version")
    .get();
  return { version: Number(found?.["version"]), least: Number(found?.["least"]) };
};

/** One process at a time creates or migrates the tables; a file that needs neither is opened without a lock. */
const migrate = (database: DatabaseSync, place: string, tables: TableOptions): void => {
  const missing = () => missingMigrations(place, versionOf(database, place), MIGRATIONS, tables);
  if (missing().length === 0) return;
  inTransaction(database, "BEGIN IMMEDIATE", () => {
    for (const { found, statements, version } of missing()) {
      tables.onMigration?.(version, found);
      for (const statement of statements) database.exec(statement);
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    }
  });
};

const DECIMAL = /^\d+(?:\.\d+)?$/;

const raised = (value: bigint, places: number): bigint =>
  places === 0 ? value : value * 10n ** BigInt(places);

/** An exact sum, with the digits of the longest amount. `BigDecimal` takes three times as long for a million amounts. */
const SUM = {
  start: () => ({ value: 0n, scale: 0 }),
  step: ({ scale, value }: { value: bigint; scale: number }, amount: unknown) => {
    if (typeof amount !== "string" || !DECIMAL.test(amount)) return { value, scale };
    const [whole = "", fraction = ""] = amount.split(".");
    const added = BigInt(whole + fraction);
    const places = Math.max(scale, fraction.length);
    return {
      value: raised(value, places - scale) + raised(added, places - fraction.length),
      scale: places,
    };
  },
  result: ({ scale, value }: { value: bigint; scale: number }): string => {
    const digits = String(value).padStart(scale + 1, "0");
    return scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  },
};

const openFile = (file: string, tables: TableOptions, clock: () => number): DatabaseSync => {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    const mode = onceNotBusy(() => pragma(database, "journal_mode = WAL"));
    if (mode !== "wal" && mode !== "memory") {
      throw cannotOpen(
        file,
        "its file system has no shared memory, which SQLite's write-ahead log needs",
      );
    }
    database.exec("PRAGMA synchronous = FULL");
    database.function("ledger_now", () => clock());
    // Node hands any state on; its types list the values of SQLite only.
    database.aggregate("ledger_sum", SUM as unknown as AggregateOptions);
    onceNotBusy(() => migrate(database, file, tables));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
};

/** The values of a statement by their names, `$1` and on. Node 22.19 cannot bind them by number. */
const named = ({ values }: Query): Record<string, SqlValue> =>
  Object.fromEntries(values.map((value, at) => [`$${at + 1}`, value ?? null]));

/** A ledger in a file, or in memory. All requests of one turn of the event loop share one sync (group commit). */
class SqliteDatabase extends Database {
  readonly isOfOneHost = true;
  readonly dialect = {
    now: NOW,
    identity: "''",
    list: (columns: ReadonlyArray<string>, from: string) =>
      `(SELECT json_group_array(json_object(${columns.map((name) => `'${name}', ${name}`).join(", ")})) FROM (SELECT ${columns.join(", ")} ${from}))`,
    among: (column: string, list: string) => `${column} IN (SELECT value FROM json_each(${list}))`,
    sum: (column: string) => `ledger_sum(${column})`,
    order: (column: string) =>
      `printf('%020d', CAST(${column} AS INTEGER)) || rtrim(rtrim(substr(${column} || '.', instr(${column} || '.', '.')), '0'), '.')`,
  };
  readonly place: string;
  readonly #database: DatabaseSync;
  readonly #isInPlace: () => boolean;
  readonly #onMoved: TableOptions["onMoved"];
  readonly #statements = new Map<string, StatementSync>();
  #isUnderWay = false;

  constructor(
    place: string,
    database: DatabaseSync,
    isInPlace: () => boolean,
    onMoved: TableOptions["onMoved"],
  ) {
    super();
    this.#onMoved = onMoved;
    this.place = place;
    this.#database = database;
    this.#isInPlace = isInPlace;
  }

  async read(queries: ReadonlyArray<Query>): Promise<Found> {
    try {
      this.#checkPlace();
      const read = () => queries.map((asked) => this.#all(asked));
      return queries.length === 1 ? read() : inTransaction(this.#database, "BEGIN", read);
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  async backup(file: string): Promise<void> {
    const failed = (error: unknown) =>
      new LedgerUnavailable(`the copy ${file} cannot be written (${messageOf(error)})`, {
        cause: error,
      });
    try {
      // Names and amounts are in it: its permissions are those of the ledger.
      closeSync(openSync(file, "wx", statSync(this.place).mode));
    } catch (error) {
      throw failed(error);
    }
    try {
      await backup(this.#database, file);
    } catch (error) {
      rmSync(file, { force: true });
      throw failed(error);
    }
  }

  async close(): Promise<void> {
    while (this.#isUnderWay || this.waiting.length > 0) await endOfTurn();
    if (this.#database.isOpen) this.#database.close();
  }

  /** Looks, decides and writes; returns the callbacks for the durable result. */
  #run({ decide, failed, looks }: Work): () => void {
    const { done, writes } = decide(looks.map((asked) => this.#all(asked)));
    if (writes.length === 0) return done;
    this.#database.exec("SAVEPOINT one");
    try {
      for (const asked of writes) this.#prepared(asked).run(named(asked));
      this.#database.exec("RELEASE one");
      return done;
    } catch (error) {
      if (!this.#database.isTransaction) throw error;
      // The others of the same turn are not affected.
      this.#database.exec("ROLLBACK TO one");
      this.#database.exec("RELEASE one");
      return () =>
        failed(
          codeOf(error) === SQLITE_CONSTRAINT_UNIQUE
            ? new UniqueViolation()
            : this.#unavailable(error),
        );
    }
  }

  #all(asked: Query): ReadonlyArray<SqlRow> {
    // Columns are only texts and numbers.
    return this.#prepared(asked).all(named(asked)) as ReadonlyArray<SqlRow>;
  }

  #prepared({ sql }: Query): StatementSync {
    const known = this.#statements.get(sql);
    const prepared = known ?? this.#database.prepare(sql);
    if (known === undefined) this.#statements.set(sql, prepared);
    return prepared;
  }

  protected next(): void {
    if (this.#isUnderWay || this.waiting.length === 0) return;
    this.#isUnderWay = true;
    const works = this.waiting;
    this.waiting = [];
    this.#commit(works, performance.now() + BUSY_FOR_MS);
  }

  #commit(works: ReadonlyArray<Work>, until: number): void {
    let ends: ReadonlyArray<() => void>;
    try {
      this.#checkPlace();
      ends = inTransaction(this.#database, "BEGIN IMMEDIATE", () =>
        works.map((work) => this.#run(work)),
      );
    } catch (error) {
      if (isBusy(error) && performance.now() < until) {
        setTimeout(() => this.#commit(works, until), Math.random() * 50);
        return;
      }
      const unavailable = this.#unavailable(error);
      ends = works.map(
        ({ failed }) =>
          () =>
            failed(unavailable),
      );
    }
    for (const end of ends) end();
    this.#isUnderWay = false;
    setImmediate(() => this.next());
  }

  #checkPlace(): void {
    if (this.#isInPlace()) return;
    const moved = new LedgerUnavailable(
      `the ledger's file ${this.place} was moved, removed or replaced: stop the workers before a restore, and start them again`,
    );
    this.#onMoved?.(moved);
    throw moved;
  }

  #unavailable(error: unknown): LedgerUnavailable {
    return error instanceof LedgerUnavailable
      ? error
      : new LedgerUnavailable(
          `the ledger's file ${this.place} cannot be used (${messageOf(error)})${codeOf(error) === SQLITE_FULL ? `; ${DISK_FULL}` : ""}`,
          { cause: error },
        );
  }
}

/** Opens a ledger's file, created if missing, or a ledger in memory (`:memory:`). */
export const openSqlite = (
  file: string,
  { clock = Date.now, ...tables }: TableOptions & { readonly clock?: () => number },
): Database => {
  const isInPlace = file === ":memory:" ? () => true : prepareFile(file, tables);
  try {
    return new SqliteDatabase(file, openFile(file, tables, clock), isInPlace, tables.onMoved);
  } catch (error) {
    if (error instanceof LedgerUnavailable) throw error;
    if (!isBusy(error))
      throw cannotOpen(
        file,
        messageOf(error),
        CORRUPT.has(codeOf(error) & 0xff)
          ? "stop the workers, and restore the latest backup in its place"
          : "allow this user to write the file and its folder",
      );
    throw new LedgerUnavailable(
      `the ledger's file ${file} cannot be opened (${messageOf(error)}); end the process that holds it, such as a sqlite3 shell`,
    );
  }
};
