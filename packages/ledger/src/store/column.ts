/**
 * The types of columns: how a field is stored, and read again. Used as `column.text`, `column.orNull(column.number)`.
 */
import { type Seal, type SqlValue, storable, toJson } from "./sql.ts";

/** Storage of a field in its column. Methods, so that a column of a narrower type is assignable to a wider one. */
export interface Column<A> {
  readonly type: string;
  /** Whether it is encrypted if there is a keyring. */
  readonly isSealed?: true;
  write(value: A, seal: Seal): SqlValue;
  read(value: SqlValue, seal: Seal): A;
}

/** A column that may be empty: it is for a field that is null or left out. */
export const orNull = <A>(column: Column<A>): Column<A | null> => ({
  ...column,
  type: column.type.replace(" NOT NULL", ""),
  write: (value, seal) =>
    value === null || value === undefined ? null : column.write(value, seal),
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
