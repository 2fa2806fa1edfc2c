import { canonicalJson, hashOfRows } from "@durable-payments/activities/payout-content";
import type { BatchRow } from "@durable-payments/protocol";

/** Rows that are kept in Temporal as one input. */
export interface Chunk {
  /** The first is 1. */
  readonly number: number;
  readonly rows: ReadonlyArray<BatchRow>;
  /** Stands for all that the rows hold. */
  readonly hash: string;
}

const MOST_ROWS = 250;

/** Temporal warns of inputs above 256 KB. */
const MOST_BYTES = 200_000;

/** Puts rows into chunks, one chunk at a time. The same rows always make the same chunks. */
export async function* chunksOf(rows: AsyncIterable<BatchRow>): AsyncGenerator<Chunk> {
  let number = 0;
  let held: Array<BatchRow> = [];
  let bytes = 0;
  let texts: Array<string> = [];
  const chunk = (): Chunk => {
    const made = { number: (number += 1), rows: held, hash: hashOfRows(texts) };
    held = [];
    bytes = 0;
    texts = [];
    return made;
  };
  for await (const row of rows) {
    const text = canonicalJson(row);
    const size = Buffer.byteLength(text);
    if (held.length === MOST_ROWS || bytes + size > MOST_BYTES) yield chunk();
    held.push(row);
    bytes += size;
    texts.push(text);
  }
  if (held.length > 0) yield chunk();
}
