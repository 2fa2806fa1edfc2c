import type { RecoveryReport } from "@durable-payments/operations/recovery";
import { counted } from "./text.ts";

const MOST = 20;

const listed = (ids: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...ids.slice(0, MOST).map((id) => `    ${id}`),
  ...(ids.length > MOST ? [`    … and ${ids.length - MOST} more`] : []),
];

/** Returns what a recovery has found, and what it did. */
export const recoveryLines = ({
  ends,
  ledger,
  lostRuns,
  mark,
  unknown,
  waits,
}: RecoveryReport): ReadonlyArray<string> => [
  ledger.stopped === null ? "Sends are allowed." : `Sends are stopped: ${ledger.stopped}`,
  `  ${counted(unknown, "write")} with an unknown outcome: checked against the service`,
  `  ${counted(ends.length, "end")} by a person that only Temporal remembers`,
  ...listed(ends),
  `  ${counted(waits, "wait")} that only Temporal remembers`,
  `  ${counted(lostRuns.length, "run")} that only the ledger remembers: start them again with the same id and input`,
  ...listed(lostRuns),
  mark === undefined
    ? "Nothing was changed. To recover: --yes --reason WHY"
    : `Recovered: epoch ${mark.epoch}. Sending resumed.`,
];
