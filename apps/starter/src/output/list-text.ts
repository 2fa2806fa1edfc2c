import { type RunList, type RunView, sumMoney } from "@durable-payments/control";
import { statusesText } from "./run-text.ts";
import { ago, counted, joined, styled, table, totals, wrap } from "./text.ts";

/** Counts runs and sums their money by status. */
export const totalsOf = (runs: RunList["runs"]) => {
  const byStatus = Map.groupBy(
    runs,
    ({ state, statuses: [first] }) => first ?? state ?? "not known",
  );
  return [...byStatus].map(([status, of]) => ({
    status,
    runs: of.length,
    money: sumMoney(of.flatMap((run) => run.money)),
    /** Part of it that has succeeded, though the run may not have. */
    succeeded: sumMoney(of.flatMap((run) => run.succeeded)),
  }));
};

const sumsText = ({ money: all, status, succeeded }: ReturnType<typeof totalsOf>[number]): string =>
  status === "succeeded" || succeeded.length === 0
    ? totals(all)
    : `${totals(all)} (${totals(succeeded)} already succeeded)`;

const runLines = (run: RunView, now: number): ReadonlyArray<string> => [
  joined(
    [
      styled("bold", run.workflowId),
      statusesText(run),
      totals(run.money),
      ago(run.endedAt ?? run.startedAt, now),
    ],
    "  ",
  ),
  ...(run.reason === null ? [] : [wrap(run.reason, "    ")]),
];

/** Prints runs, each with the reason why it is in its state, and the sums by status. */
export const listText = (
  { isMore, runs, totals: sums }: RunList & { readonly totals: ReturnType<typeof totalsOf> },
  now = Date.now(),
): string => {
  if (runs.length === 0) return "No run found.";
  return [
    ...runs.flatMap((run) => runLines(run, now)),
    "",
    table(
      sums.map((sum) => [sum.status, counted(sum.runs, "run"), sumsText(sum)]),
      { indent: "  " },
    ),
    ...(isMore ? [wrap("There are more: increase --limit, or narrow the search.")] : []),
  ].join("\n");
};
