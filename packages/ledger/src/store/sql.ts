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
export const storable = <A>(value: A): A | string =>
  typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\uFFFD") : value;

/** Returns a value as JSON whose texts every database can read. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => storable(part));

/** Returns a statement with its values. Numbers are whole: PostgreSQL refuses a fraction, such as of 1.1 hours in milliseconds. */
export const query = (sql: string, ...values: ReadonlyArray<SqlValue>): Query => ({
  sql,
  values: values.map((value) => (typeof value === "number" ? Math.round(value) : storable(value))),
});

/** Writes words of the code, never given ones, as the list of an `IN`. */
export const listed = (words: Iterable<string>): string =>
  `(${Array.from(words, (word) => `'${word}'`).join(", ")})`;

/** Encrypts the ledger's texts, and decrypts them. */
export interface Seal {
  readonly seal: (text: string) => string;
  /** @throws if the text was sealed with a missing key. */
  readonly open: (text: string) => string;
}
