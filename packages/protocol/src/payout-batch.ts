import type { ApprovalOptions } from "./approval.ts";
import { defineQuery, defineUpdate } from "./message-definitions.ts";
import type { PayoutInput } from "./payout.ts";
import type { EndingDecision } from "./retry-instruction.ts";

/** One row of a batch file: the payout run that it becomes. */
export interface BatchRow {
  /** Line of the file on which it begins. */
  readonly row: number;
  /** The row's own key. */
  readonly key: string;
  /** Workflow id of its run, made of the key. */
  readonly workflowId: string;
  /** Stands for what is paid to whom; options are not in it. */
  readonly fingerprint: string;
  readonly currency: string;
  /** One line for the Web UI. */
  readonly summary: string;
  /** Input of the workflow `payout`. */
  readonly input: PayoutInput;
}

/** Who pauses or ends a batch, and why. */
export interface BatchCommand {
  readonly by: string;
  readonly why?: string;
}

/** A command that was given, and when: ISO 8601. */
export type GivenCommand = BatchCommand & { readonly since: string };

/** What became of the rows that a batch has handled. */
export interface HandledRows {
  /** They have a run of this batch. */
  readonly started: number;
  /** They have a run that pays the same and was started before, by another file. */
  readonly known: number;
  /** Their key has a run that pays something else: nothing was started. */
  readonly conflicting: number;
  /** A person has rejected them in another file meanwhile: nothing was started. Mostly left out. */
  readonly rejected?: number;
}

/** How far a batch has come with its rows; what became of their runs is in visibility. */
export interface BatchProgress extends HandledRows {
  readonly rows: number;
  /** Rows that were handled. */
  readonly done: number;
  readonly paused?: GivenCommand;
  readonly cancelled?: GivenCommand;
}

/** A batch that a person has rejected, and that somebody overruled to have rows of it paid after all. */
export interface OverruledBatch extends EndingDecision {
  /** The id of that batch. */
  readonly workflowId: string;
  /** Who started it. */
  readonly startedBy: string;
  readonly overruled: NonNullable<EndingDecision["overruled"]>;
}

/** A batch: its rows are kept in chunks, `<workflow id>/chunk/<n>`, that were written before. */
export interface PayoutBatchInput {
  /** How many chunks there are. */
  readonly chunks: number;
  /** Hash of the rows of each chunk: the worker starts no row of a chunk that has another one. */
  readonly hashes?: ReadonlyArray<string>;
  /** How many rows all chunks have together. */
  readonly rows: number;
  /** Name of the account that all of its rows are paid from, as the input of each has it. */
  readonly account?: string;
  /** Sum of the amounts by currency, decimal strings. */
  readonly totals: Readonly<Record<string, string>>;
  /** Name of the file, for who has to approve it. */
  readonly file?: string;
  /** Lets a second person approve a total above a limit, before any row is started. */
  readonly approval?: ApprovalOptions;
  /** What was rejected of its rows before: it waits for a second person whatever its total is. */
  readonly overruled?: ReadonlyArray<OverruledBatch>;
  /** Most runs that send at a time, default 100. */
  readonly window?: number;
  /** Where the run before stopped that this one continues. */
  readonly from?: BatchPosition;
}

/** How far a batch has come. */
export interface BatchPosition extends HandledRows {
  /** The chunk to go on with. */
  readonly chunk: number;
  /** Rows of that chunk that were handled. */
  readonly skip: number;
  readonly done: number;
  /** What the rows of the chunks before pay, by currency. */
  readonly paid?: Readonly<Record<string, string>>;
  /**
   * For each chunk the proof that a second person has approved it; mostly left out. A worker makes it, and checks it:
   * what else a position says, whoever can start a workflow can claim.
   */
  readonly approvals?: ReadonlyArray<string>;
  /** For each chunk, and each row of it, the mark of whom it pays, as it was approved; mostly left out. */
  readonly payees?: ReadonlyArray<ReadonlyArray<string>>;
  /** When the first run of this batch began, in milliseconds since 1970. */
  readonly since?: number;
  readonly paused?: GivenCommand;
  readonly cancelled?: GivenCommand;
}

/** How many runs of a batch ended in which way. */
export interface RunEndings {
  /** Their payout is complete. */
  readonly completed: number;
  /** Their payout was created, and was open still at the end of the time that was allowed for it. */
  readonly unfinished: number;
  /** They failed. */
  readonly failed: number;
  /** They were cancelled. */
  readonly cancelled: number;
  /** They were terminated. */
  readonly terminated: number;
  /** They timed out. */
  readonly timedOut: number;
}

/** What became of the rows: the counts of {@link BatchProgress}, and how their runs ended. */
export interface PayoutBatchResult extends HandledRows, RunEndings {
  /** How many rows the batch has. */
  readonly rows: number;
  /** Rows that were not started, since the batch was cancelled. */
  readonly notStarted: number;
}

/** Give the workflow id of a batch, by the hash of its rows. */
export const batchId = (contentHash: string): string => `payouts/${contentHash}`;

/** Give the workflow id of a chunk of rows; the first is 1. */
export const chunkId = (batch: string, chunk: number): string => `${batch}/chunk/${chunk}`;

/** Asks a batch how far it has come. Works for those that have ended, too. */
export const batchProgressQuery = defineQuery<BatchProgress>("batchProgress");

/** Starts no more rows until it is resumed; runs that were started go on. */
export const pauseBatchUpdate = defineUpdate<BatchCommand>("pause");

/** Goes on after a pause. */
export const resumeBatchUpdate = defineUpdate<BatchCommand>("resume");

/** Starts no more rows; runs that were started go on to their own end. */
export const cancelBatchUpdate = defineUpdate<BatchCommand>("cancel");
