import { type ListedBatch, totalsText } from "@durable-payments/operations/batch";
import { countsText } from "./batch-text.ts";
import { STATE_STYLES } from "./run-list-text.ts";
import type { ListLayout } from "./stream.ts";
import { styled } from "./styled.ts";
import { roughDuration, terminalWidth, wrapDeeper } from "./text.ts";

const INDENT = "    ";

const line = ({
  amendedRows,
  file,
  fileTotals,
  known,
  rows,
  runs,
  startedAt,
  startedBy,
  state,
  totals,
  workflowId,
}: ListedBatch): string => {
  const age = roughDuration(Date.now() - Date.parse(startedAt));
  const amended =
    amendedRows === 0 ? "" : `; with ${amendedRows} rows amended since: ${totalsText(totals)}`;
  const counts = countsText(runs);
  const started: ReadonlyArray<number> = Object.values(runs);
  const ofOthers = known ?? 0;
  const others = rows - ofOthers - started.reduce((sum, count) => sum + count, 0);
  const columns = terminalWidth();
  return [
    styled("bold", workflowId),
    wrapDeeper(
      `${file ?? "a file"}: ${rows} rows; total of the file: ${totalsText(fileTotals ?? totals)}${amended}`,
      INDENT,
      columns,
    ),
    wrapDeeper(
      [
        styled(STATE_STYLES[state], state),
        ...(counts === "" ? [] : [`payouts: ${counts}`]),
        ...(ofOthers > 0 ? [`${ofOthers} rows of other files`] : []),
        ...(others > 0 ? [`${others} rows not started by it`] : []),
      ].join("; "),
      INDENT,
      columns,
    ),
    wrapDeeper(`started ${age} ago by ${startedBy}`, INDENT, columns),
  ].join("\n");
};

/** A list of batches, as a table and as JSON. */
export const batchListLayout = {
  field: "batches",
  head: () => styled("bold", "BATCHES"),
  row: line,
  none: "No batch.",
  more: (limit: number) => `These are the first ${limit}; --limit N shows more.`,
} as const satisfies Omit<ListLayout<ListedBatch>, "limit">;
