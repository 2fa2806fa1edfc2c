import { lateSince, type Report, type RunList, type RunView } from "@durable-payments/control";
import { statusText } from "./run-text.ts";
import { totalsText } from "./report-text.ts";
import {
  ago,
  columnsOf,
  noteLines,
  pad,
  payeeText,
  roughly,
  screenWidth,
  shortened,
  styled,
  totals,
  wrap,
} from "./text.ts";

/** Narrowest column of a payee or a reference. */
const LEAST = 12;

/** Words the age of a run, and of what: a payout that is late, its end or its start. */
const ageText = (
  { endedAt, payments, startedAt }: RunView,
  now: number,
  lateAfterMs: number,
): string => {
  const since = payments
    .flatMap(({ paymentDate, state }) =>
      state === "underWay" && paymentDate !== null ? [lateSince(paymentDate, lateAfterMs)] : [],
    )
    .filter((at) => at <= now);
  if (since.length > 0) return `late ${roughly(now - Math.min(...since))}`;
  return endedAt === null ? `started ${ago(startedAt, now)}` : `ended ${ago(endedAt, now)}`;
};

const HEAD = ["id", "status", "amount", "payee", "reference", "age"] as const;

/** Widths of the columns: payee and reference share what the others leave. */
const widthsOf = (
  rows: ReadonlyArray<ReadonlyArray<string>>,
  width: number,
): ReadonlyArray<number> => {
  const natural = HEAD.map((head, column) =>
    Math.max(columnsOf(head), ...rows.map((row) => columnsOf(row[column] ?? ""))),
  );
  const over = natural.reduce((sum, one) => sum + one + 2, -2) - width;
  const room = [3, 4].map((column) => Math.max(0, (natural[column] ?? 0) - LEAST));
  const all = room.reduce((sum, one) => sum + one, 0);
  return natural.map((one, column) =>
    over <= 0 || all === 0 || column < 3 || column > 4
      ? one
      : one - Math.min(room[column - 3] ?? 0, Math.ceil((over * (room[column - 3] ?? 0)) / all)),
  );
};

/** Prints runs in columns as wide as the terminal, each with the reason of its status, and the sums of all that matches. */
export const listText = (
  { next, notes, runs, totals: sums }: RunList & { readonly totals: Report["totals"] },
  lateAfterMs: number,
  now = Date.now(),
  width = screenWidth(),
): string => {
  if (runs.length === 0) return ["No run found.", ...noteLines(notes)].join("\n");
  const rows = runs.map((run) => [
    run.workflowId,
    statusText(run.status),
    totals(run.money),
    payeeText(run) ?? "",
    run.reference ?? "",
    ageText(run, now, lateAfterMs),
  ]);
  const widths = widthsOf(rows, width);
  const line = (cells: ReadonlyArray<string>): string =>
    cells
      .map((cell, at) => pad(shortened(cell, widths[at] ?? 0), widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  return [
    styled("gray", line(HEAD)),
    ...rows.flatMap((row, at) => {
      const reason = runs[at]?.reason;
      return [line(row), ...(reason ? [wrap(reason, "    ", width)] : [])];
    }),
    "",
    styled("bold", "All that matches"),
    totalsText(sums),
    ...noteLines(notes),
    ...(next === undefined
      ? []
      : [wrap("There are more: increase --limit, or narrow the search.")]),
  ].join("\n");
};
