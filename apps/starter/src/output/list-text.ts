import type { Report, RunList, RunView } from "@durable-payments/control/show";
import { lateSince } from "@durable-payments/ledger";
import { statusText } from "./run-text.ts";
import { totalsText, unlistedLines } from "./report-text.ts";
import {
  ago,
  columnsOf,
  joinedLines,
  noteLines,
  payeeText,
  roughly,
  screenWidth,
  shortened,
  styled,
  table,
  totals,
  wrap,
} from "./text.ts";

/** Narrowest column of a payee or a reference. */
const LEAST = 12;

/** Words the age of a run, and of what: a payout that is late, its end or its start. */
const ageText = ({ endedAt, payments, startedAt }: RunView, now: number, lateAfterMs: number) => {
  const since = payments
    .flatMap(({ paymentDate, state }) =>
      state === "underWay" && paymentDate !== null ? [lateSince(paymentDate, lateAfterMs)] : [],
    )
    .filter((at) => at <= now);
  if (since.length > 0) return `late ${roughly(now - Math.min(...since))}`;
  return endedAt === null ? `started ${ago(startedAt, now)}` : `ended ${ago(endedAt, now)}`;
};

const HEAD = ["id", "status", "amount", "payee", "reference", "age"] as const;

/** Payee and reference share what the other columns leave. */
const fitted = (rows: ReadonlyArray<ReadonlyArray<string>>, width: number) => {
  const [id = 0, status = 0, amount = 0, , widest = 0, age = 0] = HEAD.map((_, column) =>
    Math.max(...rows.map((row) => columnsOf(row[column] ?? ""))),
  );
  const room = width - id - status - amount - age - 2 * (HEAD.length - 1);
  const reference = Math.min(widest, Math.max(LEAST, Math.floor(room / 2)));
  const most = new Map([
    [HEAD.indexOf("payee"), Math.max(LEAST, room - reference)],
    [HEAD.indexOf("reference"), reference],
  ]);
  return rows.map((row) => row.map((cell, at) => shortened(cell, most.get(at) ?? columnsOf(cell))));
};

/** Prints runs in columns as wide as the terminal, each with the reason of its status, and the sums of all that matches. */
export const listText = (
  { next, notes, runs, totals: sums, unlisted }: RunList & Pick<Report, "totals" | "unlisted">,
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
  const lines = table(fitted(rows, width), { head: HEAD, width: Number.POSITIVE_INFINITY });
  const [head = "", ...shown] = lines.split("\n");
  return joinedLines([
    head,
    shown.flatMap((line, at) => {
      const reason = runs[at]?.reason;
      return reason ? [line, wrap(reason, "    ", width)] : [line];
    }),
    "",
    styled("bold", "All that matches"),
    totalsText(sums),
    unlistedLines(unlisted),
    noteLines(notes),
    next && wrap("There are more: increase --limit, or narrow the search."),
  ]);
};
