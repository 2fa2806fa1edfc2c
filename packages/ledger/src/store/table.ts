/** A value of a statement. Yes and no are 1 and 0 in both databases. */
export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A statement: `$1` names its first value, in SQLite, too. */
export interface Query {
  readonly sql: string;
  readonly values: ReadonlyArray<SqlValue>;
}

/**
 * Every text of the ledger passes here: a text of the service or of a file may hold U+0000 or half of a surrogate pair.
 * PostgreSQL refuses these, alone and as an escape in JSON, so U+FFFD takes their place.
 */
const storable = <A>(value: A): A | string =>
  typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\uFFFD") : value;

/** Returns a value as JSON whose texts every database can read. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => storable(part));

/** Returns a statement with its values. */
export const query = (sql: string, ...values: ReadonlyArray<SqlValue>): Query => ({
  sql,
  values: values.map(storable),
});

/** Encrypts the ledger's texts, and decrypts them. */
export interface Seal {
  readonly seal: (text: string) => string;
  /** @throws if the text was sealed with a missing key. */
  readonly open: (text: string) => string;
}

/** Storage of a field in its column. Methods, so that a column of a narrower type is assignable to a wider one. */
export interface Column<A> {
  readonly type: string;
  /** Whether it is encrypted if there is a keyring. */
  readonly isSealed?: true;
  write(value: A, seal: Seal): SqlValue;
  read(value: SqlValue, seal: Seal): A;
}

export type Fields = Readonly<Record<string, Column<unknown>>>;

/** Values of fields. */
export type RowOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Column<infer A> ? A : never;
};

/** A column that may be empty. */
export const orNull = <A>(column: Column<A>): Column<A | null> => ({
  ...column,
  type: column.type.replace(" NOT NULL", ""),
  write: (value, seal) => (value === null ? null : column.write(value, seal)),
  read: (value, seal) => (value === null || value === undefined ? null : column.read(value, seal)),
});

/** One of a set of words. Only the ledger writes them. */
export const oneOf = <A extends string>(): Column<A> => ({
  type: "TEXT NOT NULL",
  write: (value) => value,
  read: (value) => value as A,
});
export const text: Column<string> = oneOf<string>();
export const number: Column<number> = {
  type: "BIGINT NOT NULL",
  write: (value) => value,
  read: Number,
};
/** Yes and no are 1 and 0 in both databases. */
export const yesNo: Column<boolean> = {
  ...number,
  write: (value) => (value ? 1 : 0),
  read: (value) => Number(value) === 1,
};
/** JSON that the ledger wrote, of this schema version. */
export const json = <A>(): Column<A> => ({
  ...text,
  write: (value) => toJson(value),
  read: (value) => JSON.parse(String(value)) as A,
});
/** Text, or JSON, that is encrypted if there is a keyring. */
export const sealed = <A>(column: Column<A>): Column<A> => ({
  ...column,
  isSealed: true,
  write: (value, seal) => seal.seal(String(storable(column.write(value, seal)))),
  read: (value, seal) => column.read(seal.open(String(value)), seal),
});
export const textOrNull = orNull(text);
export const numberOrNull = orNull(number);

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
