import { isRecord } from "@durable-payments/api-core/values";
import { textOf } from "./file-text.ts";
import { LONGEST_ROW, type RawRow, rowFault } from "./raw-rows.ts";

const rowOf = (line: string, row: number): RawRow => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { fault: rowFault(row, "", "is no valid JSON") };
  }
  return isRecord(value)
    ? { row, value }
    : { fault: rowFault(row, "", "must be a JSON object, as a payout file has it, with a key") };
};

/** The rows of a file that has a JSON object on each line. */
export async function* jsonLines(file: string): AsyncGenerator<RawRow> {
  let row = 0;
  let rest = "";
  for await (const text of textOf(file)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      row += 1;
      if (line.trim() !== "") yield rowOf(line, row);
    }
    if (rest.length > LONGEST_ROW) {
      yield { fault: rowFault(row + 1, "", `has more than ${LONGEST_ROW} characters`) };
      return;
    }
  }
  if (rest.trim() !== "") yield rowOf(rest, row + 1);
}
