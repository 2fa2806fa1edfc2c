/**
 * The connections of a ledger to PostgreSQL: how each is set up, how long it is used, and what its failure means.
 *
 * Server, database, role and pooler have settings of their own, and some make the ledger wrong without an error. With
 * REPEATABLE READ as the default, for example, a read that waited for a lock misses a pause that was committed in the
 * meantime. So nothing is assumed. A connection sets what it can, by a statement: a pooler refuses startup parameters.
 * Settings that only an administrator can change are refused by name.
 *
 * A connection breaks at any moment, or stays open in silence, and a server becomes read-only by a failover. Whatever
 * fails, the connection is closed and another one is opened; the caller gets `LedgerUnavailable` within the time limits
 * below, and may ask again.
 */
import { messageOf } from "@durable-payments/client/values";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool, type PoolClient, TypeOverrides, types } from "pg";
import { readPostgresUrl } from "./postgres-url.ts";
import { DISK_FULL, LedgerUnavailable, UniqueViolation } from "./store.ts";

/** Time to connect, and to wait for a free connection. */
const CONNECT_WITHIN_MS = 5_000;

/** Longest use of a connection: a whole transaction. */
const ANSWER_WITHIN_MS = 10_000;

/** A worker that freezes inside a transaction loses it, and its locks, after this time. */
const IDLE_FOR_MS = 5_000;

/** The schema of the ledger's tables. */
export const SCHEMA = "durable_payments";

const SETTINGS = {
  statement_timeout: ANSWER_WITHIN_MS,
  idle_in_transaction_session_timeout: IDLE_FOR_MS,
  lock_timeout: 0,
  client_encoding: "UTF8",
  default_transaction_isolation: "read committed",
  // Compiling a statement of many parts takes longer than running it on the few rows that its indexes find.
  jit: "off",
  // A temporary table of the same name is not the ledger's.
  search_path: `${SCHEMA}, pg_temp`,
};

const READ_ONLY =
  "it is read-only: a standby, or default_transaction_read_only is on; connect to the primary";

/** A setting that the ledger cannot change, the values that it needs, and the remedy. */
const NEEDED: ReadonlyArray<readonly [setting: string, values: RegExp, remedy: string]> = [
  ["transaction_read_only", /^off$/, READ_ONLY],
  ["server_encoding", /^UTF8$/, "its encoding must be UTF8: create it with ENCODING 'UTF8'"],
  [
    "synchronous_commit",
    /^(?!off$)/,
    "it would not be durable, because synchronous_commit is off: turn it on for this user (ALTER ROLE … SET synchronous_commit = on)",
  ],
  ["fsync", /^on$/, "it would not be durable, because fsync is off: turn it on for the server"],
];

const SET_UP = `SELECT ${[
  ...Object.entries(SETTINGS).map(([name, value]) => `set_config('${name}', '${value}', false)`),
  ...NEEDED.map(([name]) => `current_setting('${name}') AS ${name}`),
].join(", ")}`;

const UNIQUE_VIOLATION = "23505";

/** The server rolled back a transaction because of a deadlock or a serialization failure. */
const CONFLICT = /^40(001|P01)$/;
const MOST_ATTEMPTS = 5;

const READ_ONLY_TRANSACTION = "25006";

/** The remedy, by the SQLSTATE or the pool's message. */
const REMEDIES: Readonly<Record<string, string>> = {
  [READ_ONLY_TRANSACTION]: READ_ONLY,
  "42501":
    "this role lacks a right: if the tables are of another release, run ledger migrate as the role that owns them",
  "53100": DISK_FULL,
  "53300": "raise its max_connections, or lower connection_limit in PAYMENTS_LEDGER",
  "timeout exceeded when trying to connect":
    "all connections of this process are busy: the database is slow, or connection_limit in PAYMENTS_LEDGER is too low",
};
const REACHABLE =
  "check that it is running and reachable, and check the user, password and database in PAYMENTS_LEDGER";

const stateOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

/** The error of a transaction that began on a server which is read-only now. */
export const readOnly = (): Error =>
  Object.assign(new Error("it became read-only"), { code: READ_ONLY_TRANSACTION });

/**
 * Returns whether the server refused a statement for its own content: then nothing was committed, and a transaction
 * without it may succeed.
 */
export const isRefused = (error: unknown): boolean =>
  error instanceof UniqueViolation ||
  (error instanceof LedgerUnavailable && /^(2[123]|40|54)/.test(stateOf(error.cause)));

/** Counts and times are far below 2^53. */
const numbers = new TypeOverrides(types);
numbers.setTypeParser(types.builtins.INT8, Number);

/** The connections of one ledger. */
export class Connections {
  readonly place: string;
  readonly #pool: Pool;
  readonly #areSetUp = new WeakSet<PoolClient>();

  /** @throws LedgerUnavailable if the address is invalid. Opens no connection. */
  constructor(address: string) {
    const { connectionString, limit, place } = readPostgresUrl(address);
    this.place = place;
    this.#pool = new Pool({
      connectionString,
      types: numbers,
      pipeline: true,
      max: limit,
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      application_name: "durable-payments",
      // A silent connection that is being closed keeps no process alive.
      allowExitOnIdle: true,
    });
    // An idle connection broke; the next query opens another.
    this.#pool.on("error", () => undefined);
    // The pool does not listen to those in use: their queries fail, and the event without a listener would end the process.
    this.#pool.on("connect", (client) => client.on("error", () => undefined));
  }

  /**
   * Uses a connection, by default for at most 10 seconds. A use that the server rolled back, such as after a deadlock,
   * is repeated.
   *
   * @throws UniqueViolation; LedgerUnavailable for anything else. A commit without an answer may have been applied.
   */
  async use<A>(work: (client: PoolClient) => Promise<A>, withinMs = ANSWER_WITHIN_MS): Promise<A> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(work, withinMs);
      } catch (error) {
        const state = stateOf(error);
        if (state === UNIQUE_VIOLATION) throw new UniqueViolation();
        if (!CONFLICT.test(state) || attempt === MOST_ATTEMPTS) throw this.unavailable(error);
        await sleep(Math.random() * 50 * attempt);
      }
    }
  }

  async #once<A>(work: (client: PoolClient) => Promise<A>, withinMs: number): Promise<A> {
    const client = await this.#pool.connect();
    const { stream } = client.connection;
    const late = new Error(`no answer within ${withinMs / 1000} s`);
    const timer = setTimeout(() => stream.destroy(late), withinMs);
    try {
      if (!this.#areSetUp.has(client)) await this.#setUp(client);
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      // The transaction ends with its connection.
      client.release(true);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #setUp(client: PoolClient): Promise<void> {
    const { rows } = await client.query<Readonly<Record<string, string>>>(SET_UP);
    for (const [name, values, remedy] of NEEDED) {
      const value = rows[0]?.[name] ?? "";
      if (values.test(value)) continue;
      throw this.unavailable(new Error(`${name} is ${value}`), remedy);
    }
    this.#areSetUp.add(client);
  }

  /** Returns the error of a database that cannot be used. */
  unavailable(error: unknown, remedy?: string): LedgerUnavailable {
    if (error instanceof LedgerUnavailable) return error;
    // A host with several addresses fails with an error without a message.
    const message = messageOf(error) || stateOf(error);
    const what = remedy ?? REMEDIES[stateOf(error)] ?? REMEDIES[message] ?? REACHABLE;
    return new LedgerUnavailable(
      `the ledger's database ${this.place} cannot be used (${message}); ${what}`,
      { cause: error },
    );
  }

  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }
}
