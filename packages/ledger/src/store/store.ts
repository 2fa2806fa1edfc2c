import { LogWriter } from "./log.ts";
import {
  type Database,
  type Decided,
  type Found,
  type Query,
  query,
  type SqlRow,
  type SqlValue,
} from "./sql.ts";
import type { Fields, RowOf, Seal, Table } from "./table.ts";

/** Conditions: each with the value of its `?`, the texts of an IN, or true where it has none. Undefined or false leaves it out. */
export type Where = Readonly<
  Record<string, SqlValue | boolean | ReadonlyArray<string> | undefined>
>;

/** A database with the seal of its texts. */
export class Store {
  readonly database: Database;
  readonly seal: Seal;

  constructor(database: Database, seal: Seal) {
    this.database = database;
    this.seal = seal;
  }

  /** Returns a statement with a WHERE. */
  where(statement: string, where: Where, rest = "", limit?: number): Query {
    const values: Array<SqlValue> = [];
    const place = (value: SqlValue) => `$${values.push(value)}`;
    const parts = Object.entries(where).flatMap(([part, value]) => {
      if (value === undefined || value === false) return [];
      if (value === true) return [part];
      return typeof value === "object" && value !== null
        ? [this.database.dialect.among(part, place(JSON.stringify(value)))]
        : [part.replace("?", place(value))];
    });
    const all = parts.length === 0 ? "" : ` WHERE ${parts.join(" AND ")}`;
    const most = limit === undefined ? "" : ` LIMIT ${place(limit)}`;
    return { sql: `${statement}${all} ${rest}${most}`, values };
  }

  /** Reads by some statements in one snapshot. */
  async find(...queries: ReadonlyArray<Query>): Promise<ReadonlyArray<SqlRow>> {
    return (await this.database.read(queries)).flat();
  }

  /** Reads whole rows of a table. */
  async all<F extends Fields>(
    table: Table<F>,
    where: Where,
    rest?: string,
    limit?: number,
  ): Promise<ReadonlyArray<RowOf<F>>> {
    const found = await this.find(this.where(`SELECT * FROM ${table.name}`, where, rest, limit));
    return found.map((row) => table.read(row, this.seal));
  }

  /** Writes what depends on nothing that is there. */
  async save(key: string | null, writes: ReadonlyArray<Query>): Promise<void> {
    if (writes.length > 0) await this.database.write(key, [], () => ({ value: undefined, writes }));
  }

  /** Looks, decides and writes in one transaction, with lines in the log of a workflow id. `key` is as of `Database.write`. */
  logged<A>(
    key: string | null,
    workflowId: string,
    looks: ReadonlyArray<Query>,
    decide: (found: Found, log: LogWriter) => Decided<A>,
  ): Promise<A> {
    const last = query(
      `SELECT ${this.database.dialect.now} AS now,
       (SELECT hash FROM log WHERE workflow_id = $1 ORDER BY sequence DESC LIMIT 1) AS hash`,
      workflowId,
    );
    return this.database.write(key, [last, ...looks], ([[before = {}] = [], ...found]) => {
      const hash = String(before["hash"] ?? "");
      const log = new LogWriter(workflowId, hash, Number(before["now"]), this.seal);
      const { value, writes } = decide(found, log);
      // First, so that what is removed from the log is not its newest line: sequence numbers never go back.
      return { value, writes: [...log.writes, ...writes] };
    });
  }
}
