// What the workflows and activities of a batch say to each other. Frozen within a major version, as histories have it.
import type { PayoutInput } from "./inputs.ts";

/** A row of a batch with its input: encrypted as all that crosses Temporal. The ledger has no account number. */
export interface PayoutRow {
  /** Line of the file, from 1. */
  readonly number: number;
  readonly workflowId: string;
  readonly input: PayoutInput;
}

/** Input of `payoutBatch`: as many rows of a batch as one payload may have. */
export interface PayoutChunk {
  /** Id of the batch in the ledger. */
  readonly batch: string;
  /** Who uploaded it, and so cannot approve it. */
  readonly startedBy: string;
  /** Most runs of these rows that have yet to send. */
  readonly window: number;
  readonly rows: ReadonlyArray<PayoutRow>;
}

/** Answer of `startRows`. */
export type StartedRows =
  /** Every row has ended, or is not to be started. */
  | {
      readonly is: "done";
      readonly succeeded: number;
      readonly failed: number;
      readonly rejected: number;
    }
  /** Only a person helps: the batch waits for its approval, or is paused. */
  | { readonly is: "waiting"; readonly why: string };

/** Activities of a batch. */
export interface BatchActivities {
  readonly startRows: (chunk: PayoutChunk) => Promise<StartedRows>;
}

/** Most rows of a chunk: with their texts they stay below Temporal's limit of a payload. */
export const MOST_ROWS_OF_CHUNK = 500;

/** Returns the workflow id of a chunk, numbered from 1. */
export const chunkId = (batch: string, number: number): string => `${batch}/${number}`;
