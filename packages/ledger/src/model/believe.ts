import type { WriteRow } from "./row.ts";

/** What Temporal says of a row: that none can exist, or the version that it was left at with nothing sent. */
export type Testimony =
  | { readonly is: "none" }
  | { readonly is: "version"; readonly version: number }
  | undefined;

/**
 * Returns whether a ledger that says "not sent" may be believed. It may be lost or behind, so something outside it has
 * to agree: Temporal, which names the version that it knows. Everything else is reconciled first.
 *
 * @param row - the row, or undefined where there is none.
 * @param epoch - the ledger's present epoch: a row of an earlier one may be behind.
 * @param testimony - what Temporal says.
 * @returns whether it is certain that nothing was sent that may still be carried out.
 */
export const mayBelieveNotSent = (
  row: WriteRow | undefined,
  epoch: number,
  testimony: Testimony,
): boolean => {
  if (row === undefined) return testimony?.is === "none";
  return (
    (row.state === "ready" || row.state === "refused" || row.state === "undone") &&
    row.epoch === epoch &&
    testimony?.is === "version" &&
    testimony.version >= row.knownFrom &&
    testimony.version <= row.version
  );
};
