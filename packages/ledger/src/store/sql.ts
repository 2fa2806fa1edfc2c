/** A value of a statement. Yes and no are 1 and 0 in both databases. */
export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A statement: `$1` names its first value, in SQLite, too. */
export interface Query {
  readonly sql: string;
  readonly values: ReadonlyArray<SqlValue>;
}

/** What a transaction does once it has looked. */
export interface Decided<A> {
  readonly writes: ReadonlyArray<Query>;
  readonly value: A;
}

/** A transaction that waits to be carried out, with others of the same turn. */
export interface Work {
  readonly key: string | null;
  readonly looks: ReadonlyArray<Query>;
  /** Never throws. `done` is called once the writes are durable. */
  readonly decide: (found: ReadonlyArray<ReadonlyArray<SqlRow>>) => {
    readonly writes: ReadonlyArray<Query>;
    readonly done: () => void;
  };
  readonly failed: (error: unknown) => void;
}

/** Makes a transaction that waits, and the promise of what it decides. */
export const workOf = <A>(
  key: string | null,
  looks: ReadonlyArray<Query>,
  decide: (found: ReadonlyArray<ReadonlyArray<SqlRow>>) => Decided<A>,
): { readonly work: Work; readonly result: Promise<A> } => {
  const { promise, reject, resolve } = Promise.withResolvers<A>();
  return {
    result: promise,
    work: {
      key,
      looks,
      failed: reject,
      decide: (found) => {
        try {
          const { value, writes } = decide(found);
          return { writes, done: () => resolve(value) };
        } catch (error) {
          return { writes: [], done: () => reject(error) };
        }
      },
    },
  };
};

/** A row of the same unique key is there. */
export class UniqueViolation extends Error {
  override readonly name = "UniqueViolation";
}

/**
 * The seam between what the ledger does and the database that it does it in. Every transaction is one flight of reads,
 * a pure decision, and one flight of writes. Those that wait at the same time share round trips and fsync.
 */
export interface Database {
  readonly place: string;
  readonly isOfOneHost: boolean;
  /** Expressions in which the databases differ. */
  readonly dialect: {
    /** The ledger's clock in milliseconds. */
    readonly now: string;
    /** Server and timeline; empty where the file is all. */
    readonly identity: string;
    readonly nextSequence: string;
    /** Rows of another table in one column, as JSON; null or empty where there are none. */
    readonly list: (columns: ReadonlyArray<string>, from: string) => string;
    /** Exact sum of decimal strings, as a decimal string. */
    readonly sum: (column: string) => string;
  };
  /** Reads in one snapshot. */
  readonly read: (queries: ReadonlyArray<Query>) => Promise<ReadonlyArray<ReadonlyArray<SqlRow>>>;
  /**
   * Looks, decides and writes in one transaction, durable when it resolves. Transactions with the same key come one
   * after the other; one with null comes alone. `decide` is called again where the database has to be asked again.
   *
   * @throws UniqueViolation; what `decide` throws; LedgerUnavailable.
   */
  readonly write: <A>(
    key: string | null,
    looks: ReadonlyArray<Query>,
    decide: (found: ReadonlyArray<ReadonlyArray<SqlRow>>) => Decided<A>,
  ) => Promise<A>;
  /** Changes by one statement, durable when it resolves. @returns what its RETURNING gives. */
  readonly change: (asked: Query) => Promise<ReadonlyArray<SqlRow>>;
  readonly backup: (file: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Returns a statement with its values. */
export const query = (sql: string, ...values: ReadonlyArray<SqlValue>): Query => ({ sql, values });

/** Builds a condition of a WHERE, part by part. */
export class Conditions {
  readonly values: Array<SqlValue> = [];
  readonly #parts: Array<string> = [];

  /** Adds a part, with `?` for its value, where there is a value. */
  where(part: string, value: SqlValue | undefined): this {
    if (value !== undefined) this.#parts.push(part.replace("?", this.#add(value)));
    return this;
  }

  among(column: string, values: ReadonlyArray<SqlValue> | undefined): this {
    if (values === undefined) return this;
    const list = values.map((value) => this.#add(value));
    this.#parts.push(list.length === 0 ? "1 = 0" : `${column} IN (${list.join(", ")})`);
    return this;
  }

  /** Adds a part without a value. */
  when(part: string, holds = true): this {
    if (holds) this.#parts.push(part);
    return this;
  }

  /** Returns the statement. */
  query(select: string, rest: string, limit?: number): Query {
    const where = this.#parts.length === 0 ? "" : ` WHERE ${this.#parts.join(" AND ")}`;
    const most = limit === undefined ? "" : ` LIMIT ${this.#add(limit)}`;
    return { sql: `${select}${where} ${rest}${most}`, values: this.values };
  }

  #add(value: SqlValue): string {
    return `$${this.values.push(value)}`;
  }
}

/** Returns parts of at most so many: a statement takes some thousands of values. */
export const chunks = <A>(all: ReadonlyArray<A>, size = 500): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
