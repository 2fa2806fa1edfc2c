/**
 * The rows of a file as its approver sees them, and the hash that says which rows were seen.
 *
 * An approval moves money only if its approver has seen whom it pays. A file may have ten thousand rows, so the largest are
 * shown, the sums, and the payees that were never paid before. The hash covers all rows with the marks of their payees'
 * accounts: what was approved is what was shown, though rows or payees may change meanwhile.
 */
import type { BatchRow } from "@durable-payments/ledger";
import { hashOf, UNKNOWN_PAYEE } from "@durable-payments/protocol/account";
import { sumMoney } from "./run-view.ts";

/** The rows that a file pays. */
export type FileListing = ReturnType<typeof listingOf>;

/** Returns the rows that a file pays itself. */
export const ownRows = (rows: ReadonlyArray<BatchRow>): ReadonlyArray<BatchRow> =>
  rows.filter(({ state }) => state !== "covered");

/** Returns the hash of the rows of a file, with their payees. */
export const hashOfRows = (rows: ReadonlyArray<BatchRow>): string =>
  hashOf(
    ownRows(rows).map((row) => {
      const { amount, currency, mark, number, payee, reference, run, shown, terms, workflowId } =
        row;
      const paid = [number, workflowId, amount, currency, payee, reference, terms, mark, shown];
      // A file has none.
      return run === null ? paid : [...paid, run];
    }),
  ).slice(0, 32);

/** Returns the payees of rows: each account or person once. */
export const payeesOf = (rows: ReadonlyArray<BatchRow>): ReadonlySet<string> =>
  new Set(rows.flatMap(({ mark, payee }) => mark ?? payee ?? []));

/** Rows that are listed unless all are asked for. */
const MOST_LISTED = 20;

/**
 * Lists the rows of a file. First come those whose payee is unknown to the service, and in a repair those that it amends.
 * Then comes the largest part of the money of their currency.
 *
 * @param fresh numbers of the rows whose payee was never paid before.
 */
export const listingOf = (
  rows: ReadonlyArray<BatchRow>,
  fresh: ReadonlySet<number>,
  isWhole: boolean,
) => {
  const own = ownRows(rows);
  const sums = sumMoney(own);
  const totals = new Map(sums.map(({ amount, currency }) => [currency, Number(amount)]));
  const partOf = ({ amount, currency }: BatchRow) =>
    Number(amount) / (totals.get(currency ?? "") ?? 1);
  const isLost = ({ mark }: BatchRow) => mark === UNKNOWN_PAYEE.mark;
  // A row of a repair has the terms of its amendment.
  const isFirst = (row: BatchRow) => isLost(row) || (row.run !== null && row.terms !== "");
  const largest = own.toSorted(
    (one, other) => Number(isFirst(other)) - Number(isFirst(one)) || partOf(other) - partOf(one),
  );
  const listed = isWhole ? own : largest.slice(0, MOST_LISTED);
  const payees = new Map(own.map((row) => [row.mark ?? row.payee, fresh.has(row.number)]));
  return {
    /** Names exactly these rows and payees: an approval in a script gives it. */
    hash: hashOfRows(rows),
    /** Sums by currency. */
    sums,
    payees: payeesOf(own).size,
    /** Payees that were never paid before. */
    newPayees: [...payees.values()].filter(Boolean).length,
    /** Rows whose payee the service does not know: they will fail. */
    notFound: own.filter(isLost).length,
    /** Why a payee could not be read so far: until then nobody can approve the file. */
    problem: own.find(({ shown }) => shown === null)?.message ?? null,
    /** The largest rows, or all; `isNew`: its payee was never paid before. */
    rows: listed.map((row) => ({ ...row, isNew: fresh.has(row.number) })),
    notListed: own.length - listed.length,
  };
};
