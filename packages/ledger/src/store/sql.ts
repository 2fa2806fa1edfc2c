/** A value of a statement. Yes and no are 1 and 0 in both databases. */
export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A statement: `$1` names its first value, in SQLite, too. */
export interface Query {
  readonly sql: string;
  readonly values: ReadonlyArray<SqlValue>;
}

/** Returns a statement with its values. */
export const query = (sql: string, ...values: ReadonlyArray<SqlValue>): Query => ({ sql, values });

/** The rows of each of some statements. */
export type Found = ReadonlyArray<ReadonlyArray<SqlRow>>;

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
  readonly decide: (found: Found) => {
    readonly writes: ReadonlyArray<Query>;
    readonly done: () => void;
  };
  readonly failed: (error: unknown) => void;
  /** A power failure may lose it. */
  readonly isRepeatable: boolean;
}

/** A row of the same unique key is there. */
export class UniqueViolation extends Error {
  override readonly name = "UniqueViolation";
}

/**
 * The seam between what the ledger does and the database that it does it in. Every transaction is one flight of reads,
 * a pure decision, and one flight of writes. Those that wait at the same time share round trips and fsync.
 */
export abstract class Database {
  abstract readonly place: string;
  abstract readonly isOfOneHost: boolean;
  /** Expressions in which the databases differ. */
  abstract readonly dialect: {
    /** The ledger's clock in milliseconds. */
    readonly now: string;
    /** Server and timeline; empty where the file is all. */
    readonly identity: string;
    /** Of the tables, as they are now. */
    readonly version: string;
    /** Rows of another table in one column, as JSON; null or empty where there are none. */
    readonly list: (columns: ReadonlyArray<string>, from: string) => string;
    /** Whether a text is in a list, given as JSON. */
    readonly among: (column: string, list: string) => string;
    /** Exact sum of decimal strings, as a decimal string. */
    readonly sum: (column: string) => string;
  };
  protected waiting: Array<Work> = [];

  /** Reads in one snapshot. */
  abstract read(queries: ReadonlyArray<Query>): Promise<Found>;

  /**
   * Looks, decides and writes in one transaction, durable when it resolves. Transactions with the same key come one
   * after the other; one with null comes alone. `decide` is called again where the database has to be asked again.
   *
   * @throws UniqueViolation; what `decide` throws; LedgerUnavailable.
   */
  write<A>(
    key: string | null,
    looks: ReadonlyArray<Query>,
    decide: (found: Found) => Decided<A>,
    isRepeatable = false,
  ): Promise<A> {
    const { promise, reject, resolve } = Promise.withResolvers<A>();
    if (this.waiting.length === 0) setImmediate(() => this.next());
    const work: Work = {
      key,
      looks,
      failed: reject,
      isRepeatable,
      decide: (found) => {
        try {
          const { value, writes } = decide(found);
          return { writes, done: () => resolve(value) };
        } catch (error) {
          return { writes: [], done: () => reject(error) };
        }
      },
    };
    this.waiting.push(work);
    return promise;
  }

  /** Carries out what waits, as far as it may. */
  protected abstract next(): void;

  /** Changes by one statement what a power failure may take: it is made again. Returns what its RETURNING gives. */
  abstract change(asked: Query): Promise<ReadonlyArray<SqlRow>>;
  abstract backup(file: string): Promise<void>;
  abstract close(): Promise<void>;
}
