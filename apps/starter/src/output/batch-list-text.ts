import { type ListedBatch, totalsText } from "@durable-payments/operations/batch";
import { STATE_STYLES, terminalWidth } from "./run-list-text.ts";
import type { ListLayout } from "./stream.ts";
import { styled } from "./styled.ts";
import { roughDuration, wrapDeeper } from "./text.ts";

const INDENT = "    ";

const line = ({
  amendedRows,
  file,
  rows,
  startedAt,
  startedBy,
  state,
  totals,
  workflowId,
}: ListedBatch): string => {
  const age = roughDuration(Date.now() - Date.parse(startedAt));
  const amended = amendedRows === 0 ? "" : `, ${amendedRows} amended`;
  const columns = terminalWidth();
  return [
    styled("bold", workflowId),
    wrapDeeper(
      `${file ?? "a file"}: ${rows} rows${amended}, in all ${totalsText(totals)}`,
      INDENT,
      columns,
    ),
    `${INDENT}${styled(STATE_STYLES[state], state)}`,
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
