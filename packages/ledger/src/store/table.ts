import type { Column } from "./column.ts";
import { type Query, query, type Seal, type SqlRow, type SqlValue } from "./sql.ts";

export * from "./sql.ts";

export type Fields = Readonly<Record<string, Column<unknown>>>;

/** Values of fields. */
export type RowOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Column<infer A> ? A : never;
};

/** Returns `workflow_id` for `workflowId`. */
export const columnOf = (field: string): string =>
  field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const columnsOf = new WeakMap<Fields, ReadonlyArray<readonly [string, string, Column<unknown>]>>();

/** Returns each field with its column. */
const entriesOf = (fields: Fields): ReadonlyArray<readonly [string, string, Column<unknown>]> => {
  let entries = columnsOf.get(fields);
  if (entries === undefined) {
    entries = Object.entries(fields).map(([field, column]) => [field, columnOf(field), column]);
    columnsOf.set(fields, entries);
  }
  return entries;
};

/** Reads fields of a result. */
export const readFields = <F extends Fields>(fields: F, found: SqlRow, seal: Seal): RowOf<F> => {
  const row: Record<string, unknown> = {};
  for (const [field, name, column] of entriesOf(fields)) {
    row[field] = column.read(found[name] ?? null, seal);
  }
  // Each field by its own column.
  return row as RowOf<F>;
};

type Places<F extends Fields> = { readonly [K in keyof F]?: string };

/** A table: schema, statements and rows follow from its fields. */
export class Table<F extends Fields> {
  readonly name: string;
  readonly fields: F;
  readonly #key: ReadonlyArray<string>;

  /** @param key fields that name a row; none if a column's type says so. */
  constructor(name: string, fields: F, key: ReadonlyArray<keyof F & string>) {
    this.name = name;
    this.fields = fields;
    this.#key = key.map(columnOf);
  }

  /** The statement that makes it. */
  get schema(): string {
    const columns = entriesOf(this.fields).map(([, name, { type }]) => `${name} ${type}`);
    const key = this.#key.length === 0 ? [] : [`PRIMARY KEY (${this.#key.join(", ")})`];
    return `CREATE TABLE ${this.name} (${[...columns, ...key].join(", ")})`;
  }

  /** Columns of texts that only a person reads. */
  get sealed(): ReadonlyArray<string> {
    return entriesOf(this.fields).flatMap(([, name, { isSealed }]) => (isSealed ? name : []));
  }

  read(found: SqlRow, seal: Seal): RowOf<F> {
    return readFields(this.fields, found, seal);
  }

  /** Returns the columns of the given fields, with their values. */
  columns(row: Partial<RowOf<F>>, seal: Seal): ReadonlyArray<readonly [string, SqlValue]> {
    return entriesOf(this.fields).flatMap(([field, name, column]) =>
      field in row ? [[name, column.write(row[field], seal)] as const] : [],
    );
  }

  /** Returns a function that inserts a row without some fields: the text of the statement is built once. */
  inserter(
    without: ReadonlyArray<keyof F>,
    places?: Places<F>,
    rest = "",
  ): (row: Partial<RowOf<F>>, seal: Seal) => Query {
    const used = entriesOf(this.fields).filter(([field]) => !without.includes(field));
    const given = used.filter(([field]) => places?.[field] === undefined);
    const names = used.map(([, name]) => name).join(", ");
    const values = used.map((one) => places?.[one[0]] ?? `$${given.indexOf(one) + 1}`).join(", ");
    const sql = `INSERT INTO ${this.name} (${names}) VALUES (${values}) ${rest}`;
    return (row, seal) =>
      query(sql, ...given.map(([field, , column]) => column.write(row[field], seal)));
  }

  /**
   * Returns a function that inserts or replaces a row. `change` gets a field and its column, and returns an expression instead
   * of the new value, or null for an unchanged column.
   */
  saver(
    places?: Places<F>,
    change: (field: string, column: string) => string | null | undefined = () => undefined,
    rest = "",
  ): (row: Partial<RowOf<F>>, seal: Seal) => Query {
    const set = entriesOf(this.fields)
      .filter(([field, name]) => !this.#key.includes(name) && change(field, name) !== null)
      .map(([field, name]) => `${name} = ${change(field, name) ?? `excluded.${name}`}`);
    const replace = `ON CONFLICT (${this.#key.join(", ")}) DO UPDATE SET ${set.join(", ")}`;
    return this.inserter([], places, `${replace} ${rest}`);
  }
}
