import {
  type BatchRun,
  failedBatches,
  readRejection,
  type RejectedBatch,
  rowIdentity,
  rowsOfRejected,
} from "@durable-payments/activities/rejected-batches";
import type { Temporal } from "../connection/temporal.ts";
import { EndedByPerson, invalidInput } from "../errors.ts";
import { type BatchRow, type OverruledBatch, utc } from "@durable-payments/protocol";
import { digestOf } from "./check-rows.ts";
import { findBatch } from "./start.ts";

/** A batch that a person has rejected, and how many rows to be paid now it held. */
export interface Rejection extends Omit<RejectedBatch, "chunks"> {
  readonly rows: number;
}

/** The rows of a rejected batch, as digests of their keys and payments. */
interface HeldRows extends Omit<Rejection, "rows"> {
  readonly held: ReadonlySet<string>;
}

const held = (row: BatchRow): string => digestOf(rowIdentity(row));

const readHeld = async (
  { client }: Temporal,
  run: BatchRun,
  isOfFile: boolean,
): Promise<HeldRows | undefined> => {
  const rejected = await readRejection(client, run);
  if (rejected === undefined) return undefined;
  const { chunks, ...rejection } = rejected;
  const rows = new Set<string>();
  // A batch of the same id holds the same rows.
  const toRead = { workflowId: run.workflowId, chunks: isOfFile ? 0 : chunks };
  for await (const row of rowsOfRejected(client, toRead)) rows.add(held(row));
  return { ...rejection, held: rows };
};

/** The batches that people have rejected, as long as Temporal keeps them, and what they held. */
export class Rejections {
  readonly #batch: string;
  readonly #batches: ReadonlyArray<HeldRows>;
  readonly #rows: Array<number>;

  private constructor(batch: string, batches: ReadonlyArray<HeldRows>) {
    this.#batch = batch;
    this.#batches = batches;
    this.#rows = batches.map(() => 0);
  }

  /** @param batch id of the batch of the file that is to be paid */
  static async read(temporal: Temporal, batch: string): Promise<Rejections> {
    const runs = new Map<string, BatchRun>();
    // Visibility may not show it yet.
    const latest = await findBatch(temporal, batch);
    if (latest?.status.name === "FAILED") runs.set(latest.runId, latest);
    for await (const run of failedBatches(temporal.client)) {
      runs.set(run.runId, run);
    }
    const batches: Array<HeldRows> = [];
    for (const run of runs.values()) {
      const rejected = await readHeld(temporal, run, run.workflowId === batch);
      if (rejected !== undefined) batches.push(rejected);
    }
    return new Rejections(batch, batches);
  }

  /** Check whether a row that is to be paid was in one of them. */
  note(row: BatchRow): void {
    const digest = held(row);
    for (const [index, batch] of this.#batches.entries()) {
      if (batch.workflowId === this.#batch || batch.held.has(digest))
        this.#rows[index] = (this.#rows[index] ?? 0) + 1;
    }
  }

  /** Those that held rows that are to be paid now, oldest first. */
  get found(): ReadonlyArray<Rejection> {
    return this.#batches
      .map(({ held: _, ...batch }, index) => ({ ...batch, rows: this.#rows[index] ?? 0 }))
      .filter(({ rows }) => rows > 0)
      .toSorted((a, b) => a.at.localeCompare(b.at));
  }
}

/**
 * Word, for a person, that rows were rejected before.
 *
 * @param rejection which batch, by whom, when, why, and how many of the new rows stand in it.
 * @returns one line.
 */
export const rejectionText = ({ at, by, rows, why, workflowId }: Rejection): string =>
  `${rows} of the new rows stand in ${workflowId}, which ${by} rejected on ${utc(at)}: ${why}`;

/** Who overrules rejections, and why. */
export interface Overruling {
  readonly by: string;
  /** undefined where nobody does. */
  readonly why: string | undefined;
}

/**
 * What is overruled of what people have rejected.
 *
 * @throws EndedByPerson where nobody overrules it; InvalidInput where there is nothing to be overruled
 */
export const overruled = (
  rejections: ReadonlyArray<Rejection>,
  { by, why }: Overruling,
): ReadonlyArray<OverruledBatch> => {
  if (why === undefined && rejections.length > 0) {
    throw new EndedByPerson({
      message: `${rejections.map(rejectionText).join(". ")}. What a person has ended stays ended, unless that is overruled by name and with a reason; then a second person has to approve it. Nothing was started.`,
      next: { operation: "importOverruling" },
    });
  }
  if (why !== undefined && rejections.length === 0) {
    throw invalidInput(
      "No person has rejected what is to be paid: there is nothing to overrule. Nothing was started.",
    );
  }
  const at = new Date().toISOString();
  return rejections.map(({ rows: _, ...rejection }) => ({
    ...rejection,
    what: "rejected",
    overruled: { by, why: why ?? "", at },
  }));
};
