import {
  type BatchDetails,
  type BatchView,
  csvText,
  type RunList,
  type RunView,
  sumMoney,
} from "@durable-payments/control";
import { nextLines, plainCommand } from "./next.ts";
import { statusesText } from "./run-text.ts";
import {
  ago,
  counted,
  joined,
  money,
  noteLines,
  pairs,
  section,
  styled,
  table,
  totals,
  when,
  wrap,
} from "./text.ts";

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

const CSV_COLUMNS = [
  "workflowId",
  "runId",
  "type",
  "status",
  "reason",
  "amount",
  "currency",
  "payee",
  "reference",
  "startedAt",
  "endedAt",
  "startedBy",
  "batch",
  "batchRow",
] as const;

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** Prints runs as CSV, with a head. */
export const listCsv = (runs: ReadonlyArray<RunView>): string =>
  csvText(
    CSV_COLUMNS,
    runs.map(({ endedAt, startedAt, state, statuses: [status], ...run }) => ({
      ...run,
      status: status ?? state,
      startedAt: iso(startedAt),
      endedAt: iso(endedAt),
    })),
  ).trimEnd();

const rowCounts = ({ counts }: BatchView): string =>
  counts
    .map(({ amount, currency, rows, state }) => {
      const sum = currency === null ? "" : ` (${money({ amount, currency })})`;
      return `${rows} ${state}${sum}`;
    })
    .join(", ");

const BATCH_STATES: Readonly<Record<string, string>> = { needsApproval: "needs approval" };

/** Words the state of a batch. */
const batchState = ({ pausedBy, state }: BatchView): string =>
  `${BATCH_STATES[state] ?? state}${pausedBy === null ? "" : `, paused by ${pausedBy}`}`;

/** Prints batches. */
export const batchesText = (
  { batches }: { readonly batches: ReadonlyArray<BatchView> },
  now = Date.now(),
): string =>
  batches.length === 0
    ? "No batch found."
    : batches
        .flatMap((batch) => [
          [styled("bold", batch.id), batchState(batch), ago(batch.createdAt, now)].join("  "),
          wrap(`${batch.file}: ${rowCounts(batch)}`, "    "),
        ])
        .join("\n");

/** Prints one batch: its counts, and each failed or rejected row with the reason. */
export const batchText = (batch: BatchDetails): string => {
  const { approvedBy, counts, createdAt, createdBy, failed, file, id, next, notNamed } = batch;
  const { rejected, rows } = batch;
  const cells = (of: BatchDetails["failed"]) =>
    of.map((row) => [`row ${row.number}`, row.workflowId, money(row), row.message ?? "no reason"]);
  return [
    styled("bold", id),
    pairs([
      ["status", batchState(batch)],
      ["file", `${file}, ${counted(rows, "row")}`],
      ["started", `${when(createdAt)} by ${createdBy}`],
      ["approved", approvedBy && `by ${approvedBy}`],
    ]),
    ...noteLines(batch.warnings, "  "),
    ...section(
      "Rows",
      counts.map(({ amount, currency, rows: count, state }) => [
        state,
        String(count),
        currency === null ? "" : money({ amount, currency }),
      ]),
    ),
    ...section("Failed", cells(failed)),
    ...section("Rejected", cells(rejected)),
    ...(notNamed === 0
      ? []
      : [
          wrap(`… and ${notNamed} more. For every row, pass --results with the file:`, "  "),
          `    ${styled("cyan", plainCommand("pay", file, "--results", "results.csv"))}`,
        ]),
    ...nextLines(next),
  ].join("\n");
};
