import type { BatchView, RunList, RunView } from "@durable-payments/operations/show";
import { sinceText, statusesText } from "./run-text.ts";
import { counted, money, styled, table, totals, wrap } from "./text.ts";

/** Sums by status, made by the operations. */
export interface ListTotals {
  readonly status: string;
  readonly runs: number;
  readonly money: ReadonlyArray<{ readonly currency: string; readonly amount: string }>;
}

const runLines = (run: RunView, now: number): ReadonlyArray<string> => {
  const when = run.endedAt === null ? sinceText(run.startedAt, now) : sinceText(run.endedAt, now);
  const first = [styled("bold", run.workflowId), statusesText(run), money(run), when];
  return [
    first.filter((part) => part !== "").join("  "),
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

/** A cell of a CSV file: what a spreadsheet would take for a formula is a text. */
const cell = (value: string | number | null): string => {
  const text = value === null ? "" : String(value);
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** Prints runs as CSV, with a head. */
export const listCsv = (runs: ReadonlyArray<RunView>): string =>
  [
    CSV_COLUMNS.join(","),
    ...runs.map((run) =>
      [
        run.workflowId,
        run.runId,
        run.type,
        run.statuses[0] ?? run.state,
        run.reason,
        run.amount,
        run.currency,
        run.payee,
        run.reference,
        iso(run.startedAt),
        iso(run.endedAt),
        run.startedBy,
        run.batch,
        run.batchRow,
      ]
        .map(cell)
        .join(","),
    ),
  ].join("\n");

const rowCounts = ({ counts }: BatchView): string =>
  counts
    .map(({ amount, currency, rows, state }) => {
      const sum = currency === null ? "" : ` (${money({ amount, currency })})`;
      return `${rows} ${state}${sum}`;
    })
    .join(", ");

const BATCH_STATES: Readonly<Record<string, string>> = { needsApproval: "needs approval" };

/** Words the state of a batch. */
export const batchState = ({ pausedBy, state }: BatchView): string =>
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
