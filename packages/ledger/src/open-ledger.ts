import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { type Database, LedgerUnavailable, Store } from "./store/store.ts";
import { query, type Seal } from "./store/table.ts";
import { attentionMethods } from "./store/attention.ts";
import { batchMethods } from "./store/batch-methods.ts";
import { decisionMethods } from "./store/decision-methods.ts";
import { wordMethods } from "./store/word-methods.ts";
import { deliveryMethods } from "./store/delivery-methods.ts";
import { feedMethods } from "./store/feed-methods.ts";
import { failureMethods } from "./store/failure-groups.ts";
import { listMethods } from "./store/list-runs.ts";
import { metaMethods } from "./store/meta-methods.ts";
import type { TableOptions } from "./store/migrate.ts";
import { openMarks } from "./store/mark-key.ts";
import { payeeMethods } from "./store/payees.ts";
import { payoutMethods } from "./store/payout-methods.ts";
import { pruneMethods } from "./store/prune.ts";
import { runMethods } from "./store/run-methods.ts";
import { openScratchStore } from "./store/scratch.ts";
import { openSqlite } from "./store/sqlite-database.ts";
import { writeMethods } from "./store/write-methods.ts";

/** Name of the environment variable that holds the address of the ledger. */
export const LEDGER_VARIABLE = "PAYMENTS_LEDGER";

/** Address of a ledger. It may hold a password: show the `place` of the ledger instead. */
export type LedgerPlace = "memory" | `sqlite:${string}` | `postgres:${string}`;

/** How a ledger is opened. */
export interface LedgerOptions extends TableOptions {
  /** Without it, texts are stored unencrypted. */
  readonly seal?: Seal;
  /** Clock of a ledger of one host, in milliseconds since 1970, for tests that skip time. Default: the process's clock. */
  readonly clock?: () => number;
  /** For how long a payout is watched after its outcome was seen, in milliseconds; 0: not at all. Default: 30 days. */
  readonly watchedForMs?: number;
}

/** Stores texts unencrypted, and refuses encrypted ones by name: as JSON, they would only be invalid. */
const UNSEALED: Seal = {
  seal: (text) => text,
  open: (text) => {
    if (!text.startsWith("sealed:1:")) return text;
    throw new LedgerUnavailable("its texts are encrypted, so it needs the keyring of the workers");
  },
};

const stateFolder = (): string => {
  const given = process.env["XDG_STATE_HOME"] ?? "";
  if (isAbsolute(given)) return given;
  try {
    return join(homedir(), ".local", "state");
  } catch {
    // In a container, a user id often has neither a name nor a home folder.
    throw new LedgerUnavailable(
      `this user has no home folder for the default ledger: set ${LEDGER_VARIABLE} to sqlite:FILE or postgres://USER:PASSWORD@HOST/DATABASE`,
    );
  }
};

/**
 * Reads the address of the ledger from `PAYMENTS_LEDGER`: `sqlite:FILE`, `postgres://…`, or `memory` for tests; by default a
 * SQLite file for the client in the user's state folder.
 *
 * @param setting value of the variable; undefined or empty for the default.
 * @param client hash of the service's client, which names the default file.
 * @throws LedgerUnavailable that does not repeat the setting, which may hold a password.
 */
export const readLedgerPlace = (setting: string | undefined, client: string): LedgerPlace => {
  const given = setting?.trim() ?? "";
  if (given === "") return `sqlite:${join(stateFolder(), "durable-payments", `${client}.sqlite`)}`;
  if (given === "memory") return "memory";
  const address = /^postgres(?:ql)?:(.+)$/s.exec(given)?.[1];
  if (address !== undefined) return `postgres:${address}`;
  const file = /^sqlite:(.+)$/s.exec(given)?.[1];
  if (file !== undefined) return `sqlite:${resolve(file)}`;
  throw new LedgerUnavailable(
    `${LEDGER_VARIABLE} must be sqlite:FILE or postgres://USER:PASSWORD@HOST/DATABASE; unset, it is a file in your state folder`,
  );
};

const openDatabase = async (place: LedgerPlace, options: LedgerOptions): Promise<Database> => {
  if (place === "memory") return openSqlite(":memory:", options);
  if (place.startsWith("sqlite:")) return openSqlite(place.slice("sqlite:".length), options);
  const { openPostgres } = await import("./store/postgres-database.ts");
  return openPostgres(place, options);
};

const methodsOf = (store: Store, keyed: (mark: string) => string) => ({
  /** Returns the mark of an account as this ledger keeps it: keyed if its texts are encrypted. */
  keyed,
  /** Its address, without user and password. */
  place: store.database.place,
  /** Whether it serves only the workers of this host. */
  isOfOneHost: store.database.isOfOneHost,
  ...metaMethods(store),
  ...writeMethods(store),
  ...decisionMethods(store),
  ...wordMethods(store),
  ...runMethods(store),
  ...listMethods(store),
  ...failureMethods(store),
  ...payoutMethods(store),
  ...payeeMethods(store),
  ...attentionMethods(store),
  ...batchMethods(store),
  ...pruneMethods(store),
  ...feedMethods(store),
  ...deliveryMethods(store),
  /** Copies the ledger to a new file, while it is in use. @throws NotOfLedger with the command, on PostgreSQL. */
  backup: (file: string) => store.database.backup(file),
  close: () => store.database.close(),
});

/**
 * The truth about writes. Every method rejects with `LedgerUnavailable` if the ledger cannot be reached; then
 * nothing is sent. One instance serves all accounts of a namespace.
 */
export interface Ledger extends Readonly<ReturnType<typeof methodsOf>> {
  /**
   * Opens a copy in memory, to try something out: what happens there changes nothing here. Close it.
   *
   * @param clock its time, in milliseconds since 1970.
   */
  readonly scratch: (clock: () => number) => Promise<ScratchLedger>;
}

/** A copy in memory of what a ledger has about some workflow ids. */
export interface ScratchLedger extends Ledger {
  /** Copies a workflow id with its children and keys, once; `look` and `transact` do it themselves. */
  readonly bring: (workflowId: string) => Promise<void>;
}

const ledgerIn = async (store: Store): Promise<Ledger> => ({
  ...methodsOf(store, await openMarks(store)),
  scratch: async (clock) => {
    const { bring, scratch } = await openScratchStore(store, clock);
    const ledger = await ledgerIn(scratch);
    return {
      ...ledger,
      bring,
      look: (name, owner) => bring(name.workflowId).then(() => ledger.look(name, owner)),
      transact: (name, decide, owner) =>
        bring(name.workflowId).then(() => ledger.transact(name, decide, owner)),
    };
  },
});

/**
 * Opens a ledger. Its tables are created or migrated, unless the options say that they are not.
 *
 * @param place as `readLedgerPlace` reads it.
 * @returns the ledger; close it when the worker has drained.
 * @throws LedgerUnavailable if it cannot be used, or this release cannot work with its tables.
 * @example
 * ```ts
 * const ledger = await openLedger(readLedgerPlace(process.env["PAYMENTS_LEDGER"], client));
 * ```
 */
export const openLedger = async (
  place: LedgerPlace,
  options: LedgerOptions = {},
): Promise<Ledger> => {
  const { seal = UNSEALED, watchedForMs } = options;
  const store = new Store(await openDatabase(place, options), seal, watchedForMs);
  const identity = query(
    `INSERT INTO meta (id, ledger_id, server, former, suspects, seen_epoch, epoch, was_behind)
     VALUES (1, $1, ${store.database.dialect.identity}, '[]', '[]', 0, 1, 0) ON CONFLICT (id) DO NOTHING`,
    randomUUID(),
  );
  try {
    // Written once. A look takes no lock, so that commands which only read never wait for a writer.
    if ((await store.find(query("SELECT id FROM meta"))).length === 0) {
      await store.save(null, [identity]);
    }
    return await ledgerIn(store);
  } catch (error) {
    await store.database.close();
    throw error;
  }
};
