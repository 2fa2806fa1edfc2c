import { WATCHED_FOR_MS } from "../model/reading-schedule.ts";
import type { Look } from "./ledger.ts";
import { type Decision, type LogWriter, logWriter, readDecision, selectDecisions } from "./log.ts";
import * as column from "./column.ts";
import {
  type Fields,
  type Query,
  query,
  readFields,
  type RowOf,
  type Seal,
  type SqlRow,
  type SqlValue,
  type Table,
  toJson,
} from "./table.ts";

/** The ledger cannot be read or written. Nothing was sent, and nothing is sent until it can. */
export class LedgerUnavailable extends Error {
  override readonly name = "LedgerUnavailable";
}

/** The database of the ledger cannot do this, and has tools of its own for it. Nothing is wrong with the ledger. */
export class NotOfLedger extends Error {
  override readonly name = "NotOfLedger";
}

/** The remedy of a database without room. */
export const DISK_FULL =
  "its disk is full: nothing is sent until there is room, and then payments continue";

/** The rows of some statements, for each of them. */
export type Found = ReadonlyArray<ReadonlyArray<SqlRow>>;

/** The result of a transaction: its writes, and the value for its caller. */
export interface Transacted<A> {
  readonly writes: ReadonlyArray<Query>;
  readonly value: A;
}

/** A waiting transaction, run with others of the same turn. */
export interface Work {
  /** Without keys, it runs alone. */
  readonly keys: ReadonlyArray<string>;
  readonly looks: ReadonlyArray<Query>;
  /** Never throws. `done` is called once the writes are durable. */
  readonly decide: (found: Found) => {
    readonly writes: ReadonlyArray<Query>;
    readonly done: () => void;
  };
  readonly failed: (error: unknown) => void;
  /** When it began to wait, by `performance.now()`. */
  readonly since: number;
}

/** Most keys of one transaction. Each is an advisory lock on PostgreSQL, whose lock table has room for some 6,400. */
export const MOST_KEYS = 250;

const PROBLEM_FOR_MS = 60_000;

/** A row with the same unique key exists. */
export class UniqueViolation extends Error {
  override readonly name = "UniqueViolation";
}

/**
 * The interface between the ledger and its database. Every transaction is one flight of reads, a pure decision, and one
 * flight of writes. Transactions that wait at the same time share round trips and fsync.
 */
export abstract class Database {
  abstract readonly place: string;
  abstract readonly isOfOneHost: boolean;
  /** Expressions in which the databases differ. */
  abstract readonly dialect: {
    /** The ledger's clock in milliseconds. */
    readonly now: string;
    /** Server and timeline; empty for a file. */
    readonly identity: string;
    /** Rows of another table in one column, as JSON; null or empty if there are none. */
    readonly list: (columns: ReadonlyArray<string>, from: string) => string;
    /** Whether a text is in a list, given as JSON. */
    readonly among: (column: string, list: string) => string;
    /** Exact sum of decimal strings, as a decimal string; a text that is not a decimal is left out. */
    readonly sum: (column: string) => string;
    /** Decimals in the order of their value. */
    readonly order: (column: string) => string;
  };
  protected waiting: Array<Work> = [];
  #failed: { readonly error: LedgerUnavailable; readonly at: number } | undefined;

  /** Why the last transaction failed, for a minute: a mark may find the room on a full disk that a payment does not. */
  get problem(): LedgerUnavailable | undefined {
    const { at = 0, error } = this.#failed ?? {};
    return performance.now() < at + PROBLEM_FOR_MS ? error : undefined;
  }

  /** Reads in one snapshot. */
  abstract read(queries: ReadonlyArray<Query>): Promise<Found>;

  /**
   * Reads, decides and writes in one transaction, durable when it resolves. Transactions with a key in common run
   * in order; one with null runs alone. `decide` is called again if the database must be read again.
   *
   * @throws UniqueViolation; the errors of `decide`; LedgerUnavailable.
   */
  write<A>(
    key: string | ReadonlyArray<string> | null,
    looks: ReadonlyArray<Query>,
    decide: (found: Found) => Transacted<A>,
  ): Promise<A> {
    const { promise, reject, resolve } = Promise.withResolvers<A>();
    if (this.waiting.length === 0) setImmediate(() => this.next());
    const work: Work = {
      keys: key === null ? [] : [key].flat(),
      looks,
      failed: (error) => {
        if (error instanceof LedgerUnavailable) this.#failed = { error, at: performance.now() };
        reject(error);
      },
      since: performance.now(),
      decide: (found) => {
        try {
          const { value, writes } = decide(found);
          const done = () => {
            // A change by a single statement is small, so it may fit on a disk without room for a payment.
            if (writes.length > 0) this.#failed = undefined;
            resolve(value);
          };
          return { writes, done };
        } catch (error) {
          return { writes: [], done: () => reject(error) };
        }
      },
    };
    this.waiting.push(work);
    return promise;
  }

  /** Runs the waiting transactions that can run now. */
  protected abstract next(): void;

  abstract backup(file: string): Promise<void>;
  abstract close(): Promise<void>;
}

/**
 * Conditions, each with the values of its `?`, or true if it has none; without a `?`, an array has the texts of an IN.
 * Undefined or false omits it.
 */
export type Where = Readonly<
  Record<string, SqlValue | boolean | ReadonlyArray<SqlValue> | undefined>
>;

/** The log of a workflow id, and the ledger as a transaction finds it. */
interface Log extends LogWriter, Pick<Look, "now" | "epoch" | "sequence" | "stopped"> {}

const LAST = {
  now: column.number,
  epoch: column.number,
  stopped: column.textOrNull,
  sequence: column.number,
  hash: column.textOrNull,
};

/** A database with the seal of its texts. */
export class Store {
  readonly database: Database;
  readonly seal: Seal;
  /** For how long the outcome of a payout is watched, in milliseconds; 0 if it is not. */
  readonly watchedForMs: number;

  constructor(database: Database, seal: Seal, watchedForMs = WATCHED_FOR_MS) {
    this.database = database;
    this.seal = seal;
    this.watchedForMs = watchedForMs;
  }

  /** Returns a statement with a WHERE. `given` are the values that the statement itself names. */
  where(
    statement: string,
    where: Where,
    rest = "",
    limit?: number,
    given: ReadonlyArray<SqlValue> = [],
  ): Query {
    const values = [...given];
    const place = (value: SqlValue) => `$${values.push(value)}`;
    const parts = Object.entries(where).flatMap(([part, value]) => {
      if (value === undefined || value === false) return [];
      if (value === true) return [part];
      if (typeof value !== "object" || value === null) return [part.replace("?", place(value))];
      return part.includes("?")
        ? [value.reduce<string>((text, one) => text.replace("?", place(one)), part)]
        : [this.database.dialect.among(part, place(toJson(value)))];
    });
    const all = parts.length === 0 ? "" : ` WHERE ${parts.join(" AND ")}`;
    const most = limit === undefined ? "" : ` LIMIT ${place(limit)}`;
    return query(`${statement}${all} ${rest}${most}`, ...values);
  }

  /** Returns a statement that changes some fields of rows. */
  update<F extends Fields>(table: Table<F>, to: Partial<RowOf<F>>, where: Where, rest = ""): Query {
    const columns = table.columns(to, this.seal);
    const set = columns.map(([name], at) => `${name} = $${at + 1}`).join(", ");
    const values = columns.map(([, value]) => value);
    return this.where(`UPDATE ${table.name} SET ${set}`, where, rest, undefined, values);
  }

  /** Reads by some statements in one snapshot. */
  async find(...queries: ReadonlyArray<Query>): Promise<ReadonlyArray<SqlRow>> {
    return (await this.database.read(queries)).flat();
  }

  /** Reads some fields by some statements in one snapshot. */
  async read<F extends Fields>(
    fields: F,
    ...queries: ReadonlyArray<Query>
  ): Promise<ReadonlyArray<RowOf<F>>> {
    return (await this.find(...queries)).map((row) => readFields(fields, row, this.seal));
  }

  /** Reads the decisions on a workflow id. */
  async decisions(workflowId: string): Promise<ReadonlyArray<Decision>> {
    const lines = await this.find(selectDecisions(workflowId));
    return lines.map((line) => readDecision(line, this.seal));
  }

  /** Reads the texts of one column. */
  async texts(column: string, asked: Query): Promise<ReadonlyArray<string>> {
    return (await this.find(asked)).map((row) => String(row[column]));
  }

  /** Reads whole rows of a table. */
  all<F extends Fields>(
    table: Table<F>,
    where: Where,
    rest?: string,
    limit?: number,
  ): Promise<ReadonlyArray<RowOf<F>>> {
    return this.read(table.fields, this.where(`SELECT * FROM ${table.name}`, where, rest, limit));
  }

  /** Writes without reading first. */
  async save(
    key: string | ReadonlyArray<string> | null,
    writes: ReadonlyArray<Query>,
  ): Promise<void> {
    if (writes.length > 0) await this.database.write(key, [], () => ({ value: undefined, writes }));
  }

  /**
   * Writes by a statement, durable when it resolves. A transaction returns only the rows of its looks, so the statement
   * takes their place: its conditions decide, and nothing is left for `decide`.
   *
   * @returns its RETURNING.
   */
  writeReturning(key: string, statement: Query): Promise<ReadonlyArray<SqlRow>> {
    return this.database.write(key, [statement], ([value = []]) => ({ value, writes: [] }));
  }

  /**
   * Looks, decides and writes in one transaction, with lines in the log of a workflow id. `key` is as of
   * `Database.write`.
   */
  logged<A>(
    key: string | ReadonlyArray<string> | null,
    workflowId: string,
    looks: ReadonlyArray<Query>,
    decide: (found: Found, log: Log) => Transacted<A>,
  ): Promise<A> {
    const last = query(
      `SELECT ${this.database.dialect.now} AS now, epoch, stopped, (SELECT coalesce(max(sequence), 0) FROM log) AS sequence,
       (SELECT hash FROM log WHERE workflow_id = $1 ORDER BY sequence DESC LIMIT 1) AS hash FROM meta`,
      workflowId,
    );
    return this.database.write(key, [last, ...looks], ([[before = {}] = [], ...found]) => {
      const { hash, ...at } = readFields(LAST, before, this.seal);
      const log = { ...at, ...logWriter(workflowId, hash ?? "", at.now, this.seal) };
      const { value, writes } = decide(found, log);
      // First, so that the removed lines do not include the newest one: sequence numbers never go back.
      return { value, writes: [...log.writes, ...writes] };
    });
  }
}
