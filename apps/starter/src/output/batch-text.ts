import type { BatchDetails } from "@durable-payments/operations/show";
import { batchState } from "./list-text.ts";
import { nextLines } from "./next.ts";
import { counted, money, pairs, styled, table, when, wrap } from "./text.ts";

/** Prints one batch: its counts, and each failed or rejected row with the reason. */
export const batchText = (batch: BatchDetails): string => {
  const { approvedBy, counts, createdAt, createdBy, failed, file, id, next, rejected, rows } =
    batch;
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
    ...(failed.length === 100 ? [wrap("These are the first 100 that failed.", "  ")] : []),
    ...nextLines(next),
  ].join("\n");
};
