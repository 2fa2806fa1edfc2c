import type { BatchDetails, BatchView, RunList, RunView } from "@durable-payments/operations/show";
import { csvText } from "@durable-payments/operations/batch";
import { nextLines, plainCommand } from "./next.ts";
import { sinceText, statusesText } from "./run-text.ts";
import {
  counted,
  joined,
  money,
  noteLines,
  pairs,
  styled,
  table,
  totals,
  when,
  wrap,
} from "./text.ts";

/** Sums by status, made by the operations. */
export interface ListTotals {
  readonly status: string;
  readonly runs: number;
  readonly money: ReadonlyArray<{ readonly currency: string; readonly amount: string }>;
}

const runLines = (run: RunView, now: number): ReadonlyArray<string> => {
  const when = run.endedAt === null ? sinceText(run.startedAt, now) : sinceText(run.endedAt, now);
  return [
    joined([styled("bold", run.workflowId), statusesText(run), money(run), when], "  "),
    ...(run.reason === null ? [] : [wrap(run.reason, "    ")]),
  ];
};

/** Prints runs, each with the reason why it is in its state, and the sums by status. */
export const listText = (
  { isMore, runs, totals: sums }: RunList & { readonly totals: ReadonlyArray<ListTotals> },
  now = Date.now(),
): string => {
  if (runs.length === 0) return "No run found.";
  return [
    ...runs.flatMap((run) => runLines(run, now)),
    "",
    table(
      sums.map(({ money: amounts, runs: count, status }) => [
        status,
        counted(count, "run"),
        totals(amounts),
      ]),
      { indent: "  " },
    ),
    ...(isMore ? [wrap("There are more: raise --limit, or narrow the search.")] : []),
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
          [styled("bold", batch.id), batchState(batch), sinceText(batch.createdAt, now)].join("  "),
          wrap(`${batch.file}: ${rowCounts(batch)}`, "    "),
        ])
        .join("\n");

/** Prints one batch: its counts, and each failed or rejected row with the reason. */
export const batchText = (batch: BatchDetails): string => {
  const { approvedBy, counts, createdAt, createdBy, failed, file, id, next, notNamed } = batch;
  const { rejected, rows } = batch;
  const faulty = (title: string, of: BatchDetails["failed"]) =>
    of.length === 0
      ? []
      : [
          "",
          styled("bold", title),
          table(
            of.map((row) => [
              `row ${row.number}`,
              row.workflowId,
              money(row),
              row.message ?? "no reason",
            ]),
            { indent: "  " },
          ),
        ];
  return [
    styled("bold", id),
    pairs([
      ["status", batchState(batch)],
      ["file", `${file}, ${counted(rows, "row")}`],
      ["started", `${when(createdAt)} by ${createdBy}`],
      ["approved", approvedBy && `by ${approvedBy}`],
    ]),
    ...noteLines(batch.warnings, "  "),
    "",
    styled("bold", "Rows"),
    table(
      counts.map(({ amount, currency, rows: count, state }) => [
        state,
        String(count),
        currency === null ? "" : money({ amount, currency }),
      ]),
      { indent: "  " },
    ),
    ...faulty("Failed", failed),
    ...faulty("Rejected", rejected),
    ...(notNamed === 0
      ? []
      : [
          wrap(`… and ${notNamed} more. Every row: give --results with the file:`, "  "),
          `    ${styled("cyan", plainCommand("pay", file, "--results", "results.csv"))}`,
        ]),
    ...nextLines(next),
  ].join("\n");
};
