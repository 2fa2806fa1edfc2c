import { once } from "node:events";
import { visibleJson } from "@durable-payments/api-core/values";
import type { Output } from "./output.ts";
import { wrap } from "./text.ts";
import { visible } from "./visible.ts";

/** How the items of a list are printed, one after the other. */
export interface ListLayout<A> {
  /** Field of the JSON object that holds the items. */
  readonly field: string;
  /** Most items; one more is read, to know whether there are more. */
  readonly limit: number;
  readonly head: () => string;
  readonly row: (item: A) => string;
  /** Instead of the table, where there is no item. */
  readonly none: string;
  /** Below a table that was cut short. */
  readonly more: (limit: number) => string;
}

/** Writes at the speed of the reader. @returns false when nobody reads any more */
const write = async (output: Output, text: string): Promise<boolean> => {
  const { stdout } = process;
  if (!output.write(text) && stdout.writable) await once(stdout, "drain").catch(() => undefined);
  return stdout.writable;
};

/**
 * Prints a list as it comes, in the memory of one item: rows for a person, or one JSON object,
 * `{"<field>": […], "more": boolean}`. Where a source fails on the way, the object ends with
 * `"more": true` all the same, and the error is reported on standard error.
 */
export const answerList = async <A>(
  output: Output,
  items: AsyncIterable<A>,
  { field, head, limit, more, none, row }: ListLayout<A>,
): Promise<void> => {
  const { json } = output;
  let count = 0;
  let isMore = true;
  const end = () => {
    if (json) return `${count === 0 ? `{"${field}":[` : ""}],"more":${isMore}}\n`;
    if (count === 0) return isMore ? "" : `${none}\n`;
    return isMore && count === limit ? `${wrap(more(limit))}\n` : "";
  };
  try {
    for await (const item of items) {
      if (count === limit) return;
      output.live(undefined);
      const before = json
        ? count === 0
          ? `{"${field}":[`
          : ","
        : count === 0
          ? `${head()}\n`
          : "";
      output.answered = true;
      count += 1;
      const printed = json ? visibleJson(item) : `${row(visible(item))}\n`;
      if (!(await write(output, `${before}${printed}`))) return;
    }
    isMore = false;
  } finally {
    // A failure before the first item is reported instead of a list.
    if (output.answered || !isMore) {
      output.answered = true;
      await write(output, end());
    }
  }
};
