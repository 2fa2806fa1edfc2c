import { createHash } from "node:crypto";
import type { BatchRow } from "@durable-payments/workflows";
import { canonicalJson } from "../input/canonical-json.ts";

/** Rows that are kept in Temporal as one input. */
export interface Page {
  /** The first is 1. */
  readonly number: number;
  readonly rows: ReadonlyArray<BatchRow>;
  /** Stands for all that the rows hold. */
  readonly hash: string;
}

const MOST_ROWS = 250;

/** Temporal warns of inputs above 256 KB. */
const MOST_BYTES = 200_000;

/** Puts rows into pages, one page at a time. The same rows always make the same pages. */
export async function* pagesOf(rows: AsyncIterable<BatchRow>): AsyncGenerator<Page> {
  let number = 0;
  let held: Array<BatchRow> = [];
  let bytes = 0;
  let hash = createHash("sha256");
  const page = (): Page => {
    const made = { number: (number += 1), rows: held, hash: hash.digest("base64url") };
    held = [];
    bytes = 0;
    hash = createHash("sha256");
    return made;
  };
  for await (const row of rows) {
    const text = canonicalJson(row);
    const size = Buffer.byteLength(text);
    if (held.length === MOST_ROWS || bytes + size > MOST_BYTES) yield page();
    held.push(row);
    bytes += size;
    hash.update(text).update("\n");
  }
  if (held.length > 0) yield page();
}
