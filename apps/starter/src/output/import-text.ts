import {
  type CheckedFile,
  type FoundRows,
  type Funds,
  rejectionText,
  totalsText,
} from "@durable-payments/operations/batch";
import { columns, duration } from "./text.ts";

/** What the journal has of rows that Temporal does not know, or has forgotten. */
export const paidBeforeText = ({ paidBefore, whyNoJournal = "" }: FoundRows): string =>
  paidBefore === null
    ? `whether new rows were paid before is not known here (${whyNoJournal}); the worker's journal knows`
    : `${paidBefore === 0 ? "none" : paidBefore} of the new rows, as the journal knows; none is paid again`;

/** What the journal has of new rows that were sent, and had no answer; nothing where there are none. */
export const inDoubtText = ({ inDoubt }: FoundRows): string =>
  inDoubt === null || inDoubt === 0
    ? ""
    : `${inDoubt} of the new rows: sent before, and the journal has no answer; each may have been paid: it is reconciled before anything is sent, and a person is asked where that is unclear`;

const fundsText = ({ available, currency, isEnough, problem, total }: Funds): string => {
  if (available === null) return `${total} ${currency}; balance ${problem ?? "not known"}`;
  return `${total} ${currency} of ${available}${isEnough ? "" : ": not enough"}`;
};

/** What Temporal knows of a file's rows, and for how long after their end. */
export interface Memory extends FoundRows {
  readonly retentionMs: number;
}

/** What a dry run found, as a person reads it. */
export const dryRunText = (
  { batch, rows }: CheckedFile,
  funds: ReadonlyArray<Funds>,
  found: Memory | undefined,
): string =>
  `${found?.rejected.length ? "Rows of it were rejected by a person" : "Every row is sound"}. Nothing was started.\n${columns(
    [
      ["id", batch],
      ["rows", String(rows)],
      ...funds.map((one) => ["total", fundsText(one)] as const),
      ...(found === undefined
        ? []
        : [
            ["known", `${found.known} rows`] as const,
            [
              "new",
              found.new === 0
                ? "none"
                : `${found.new} rows, lines ${found.newRows}, in all ${totalsText(found.newTotals)}`,
            ] as const,
            ["paid before", paidBeforeText(found)] as const,
            ...(inDoubtText(found) === "" ? [] : [["in doubt", inDoubtText(found)] as const]),
            ...found.rejected.map((rejection) => ["rejected", rejectionText(rejection)] as const),
            [
              "keys",
              `known for ${duration(found.retentionMs)} after a payout's end: the namespace's retention`,
            ] as const,
          ]),
    ],
  )}`;
