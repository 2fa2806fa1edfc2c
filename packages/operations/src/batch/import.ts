import type { BatchRow } from "@durable-payments/protocol";
import { checkReason } from "../acting.ts";
import { type JournalSettings, withJournalOrNot } from "../connection/journal.ts";
import type { Temporal } from "../connection/temporal.ts";
import { checkAccountIsKnown } from "../connection/workers.ts";
import { refused } from "../errors.ts";
import { type CheckedFile, checkBatchId, chunksAgain } from "./check-file.ts";
import { findKnownRows, type KnownRows } from "./known-rows.ts";
import { overruled } from "./rejections.ts";
import {
  type BatchOptions,
  checkBatchOptions,
  findBatch,
  startBatch,
  startedAs,
  type StartedAs,
  uploadChunks,
} from "./start.ts";

/** What Temporal and the journal know of a file's rows. */
export interface FoundRows extends KnownRows {
  /** Why the journal was not asked. */
  readonly whyNoJournal?: string;
}

/**
 * Find which rows of a checked file have been paid, or are being paid.
 *
 * @param onRows is called with how many rows have been compared with earlier runs.
 * @throws InvalidInput where a key was used for another payment.
 */
export const findRows = (
  temporal: Temporal,
  checked: CheckedFile,
  journal: JournalSettings,
  onRows: (rows: number) => void,
): Promise<FoundRows> =>
  withJournalOrNot(journal, async (opened) => ({
    ...(await findKnownRows(temporal, checked, onRows, opened.journal)),
    ...("whyNot" in opened && { whyNoJournal: opened.whyNot }),
  }));

/** How a file is imported. */
export interface ImportOptions extends BatchOptions {
  readonly journal: JournalSettings;
  /** Why rows are paid after all that a person has rejected. */
  readonly overrule: string | undefined;
}

/** What is going on while a file is imported. */
export interface ImportObserver {
  /** So many rows have been compared with earlier runs. */
  readonly onRows: (rows: number) => void;
  /** What was found; its new rows are written next. */
  readonly onFound: (found: FoundRows) => void;
  /** So many chunks have been written. */
  readonly onChunk: (chunks: number) => void;
  /** All is written, and nothing but the start is left. */
  readonly onWritten: () => void;
}

/** What became of an import. */
export type Imported =
  /**
   * The very file is being paid already; nothing was started. `startedAs` where somebody else has started it,
   * or with another approval.
   */
  | { readonly outcome: "running"; readonly startedAs?: StartedAs }
  /** Each row has its run, started by this batch before; nothing was started. */
  | { readonly outcome: "known" }
  /** Each row has its run, started by other files; nothing was started, and the batch has no run. */
  | { readonly outcome: "nothingNew" }
  | { readonly outcome: "started"; readonly found: FoundRows };

/**
 * Pay the rows of a checked file, unless they are known. Interrupted before `onWritten` nothing was
 * started, and the same call goes on where this one stopped.
 *
 * @param temporal the connection of `withTemporal`.
 * @param checked what `checkBatchFile` returns.
 * @param options who starts it, how many payouts send at a time, above which total it is approved.
 * @param observer is called while the file is compared and written.
 * @returns `started`, or why nothing was: each row has its run already.
 * @throws InvalidInput where a key was used for another payment, or an option is wrong; EndedByPerson where
 *   a person has rejected rows and that is not overruled; Refused where the file is not what was checked, or the batch
 *   was started meanwhile by somebody else, or with another approval.
 * @example
 * const checked = await checkBatchFile("payouts.csv", defaultAssumptions);
 * const { outcome } = await importBatch(temporal, checked, options, observer);
 * if (outcome === "started") await awaitBatch(temporal, checked.batch, console.log);
 */
export const importBatch = async (
  temporal: Temporal,
  checked: CheckedFile,
  options: ImportOptions,
  { onChunk, onFound, onRows, onWritten }: ImportObserver,
): Promise<Imported> => {
  checkBatchOptions(options);
  if (options.overrule !== undefined) checkReason(options.overrule, "overrule");
  const { batch } = checked;
  checkBatchId(checked);
  const before = await findBatch(temporal, batch);
  if (before?.status.name === "RUNNING") {
    const as = await startedAs(temporal, before);
    const isAlike = as.startedBy === options.startedBy && as.approveAbove === options.approveAbove;
    return { outcome: "running", ...(!isAlike && { startedAs: as }) };
  }
  const found = await findRows(temporal, checked, options.journal, onRows);
  if (found.new === 0) return { outcome: before === undefined ? "nothingNew" : "known" };
  const overruling = overruled(found.rejected, { by: options.startedBy, why: options.overrule });
  await checkAccountIsKnown(temporal, checked.account);
  onFound(found);
  await uploadChunks(temporal, checked, onChunk);
  onWritten();
  const since = await findBatch(temporal, batch);
  if (since !== undefined && since.runId !== before?.runId && since.status.name !== "RUNNING") {
    throw refused(
      `${batch} was started by somebody else meanwhile, and has ended. Nothing was started.`,
      { operation: "describeBatch", workflowId: batch },
    );
  }
  const isStarted = await startBatch(temporal, checked, options, overruling);
  return isStarted ? { outcome: "started", found } : { outcome: "running" };
};

/**
 * Read the rows of a checked file, chunk by chunk.
 *
 * @param checked what `checkBatchFile` returns.
 * @returns the rows, in their order in the file.
 * @throws Refused where the file is not what was checked.
 */
export async function* rowsOfFile(checked: CheckedFile): AsyncGenerator<ReadonlyArray<BatchRow>> {
  for await (const { rows } of chunksAgain(checked)) yield rows;
}
