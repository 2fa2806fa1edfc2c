import { startAttributes } from "@durable-payments/activities/start-attributes";
import { isRecord } from "@durable-payments/api-core/values";
import { basename } from "node:path";
import {
  chunkId,
  type OverruledBatch,
  type PayoutBatchInput,
  textAt,
  WORKFLOW,
  runDetails,
} from "@durable-payments/protocol";
import {
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
} from "@temporalio/client";
import { checkName, checkOptions } from "../acting.ts";
import { expectKeys } from "../connection/expect-keys.ts";
import { changing } from "../connection/changing.ts";
import type { Temporal } from "../connection/temporal.ts";
import { invalidInput, refused } from "../errors.ts";
import { isAmount } from "../input/fields.ts";
import { readInput } from "../history/read-input.ts";
import { type CheckedFile, chunksAgain } from "./check-file.ts";
import type { Chunk } from "./chunks.ts";
import { totalsText } from "../totals.ts";

/** How a batch is to be paid. */
export interface BatchOptions {
  readonly startedBy: string;
  /** A total above this, in any currency, waits for a second person. */
  readonly approveAbove: string | undefined;
  readonly window: number | undefined;
}

const LARGEST_WINDOW = 1_000;

/**
 * Check how a batch is to be paid, whatever a caller without types gives.
 *
 * @throws InvalidInput
 */
export const checkBatchOptions = (options: BatchOptions): void => {
  const { approveAbove, startedBy, window } = checkOptions(options);
  checkName(startedBy, "startedBy");
  const limit: unknown = approveAbove;
  if (limit !== undefined && (typeof limit !== "string" || !isAmount(limit))) {
    throw invalidInput(
      'The limit of one person (approveAbove) must be a decimal text, such as "10000.00". Nothing was started.',
    );
  }
  if (
    window !== undefined &&
    !(Number.isInteger(window) && window >= 1 && window <= LARGEST_WINDOW)
  ) {
    throw invalidInput(
      `The number of payouts that send at a time (window) must be from 1 to ${LARGEST_WINDOW}. Nothing was started.`,
    );
  }
};

const UPLOADED_AT_ONCE = 4;

const uploadChunk = async (
  temporal: Temporal,
  { batch }: CheckedFile,
  { number, rows }: Chunk,
): Promise<void> => {
  const { client, settings } = temporal;
  await expectKeys(temporal);
  const about = {
    mayBe: `Rows of ${batch} may have been written, and none is paid by that`,
    next: { operation: "describeBatch", workflowId: batch },
  } as const;
  await changing(temporal, about, () =>
    client.workflow.start(WORKFLOW.payoutBatchChunk, {
      workflowId: chunkId(batch, number),
      taskQueue: settings.taskQueue,
      args: [rows],
      // It is kept, not run: no worker takes it up.
      startDelay: "365 days",
      workflowIdReusePolicy: "ALLOW_DUPLICATE",
      workflowIdConflictPolicy: "USE_EXISTING",
      staticSummary: `${rows.length} rows of ${batch}`,
      staticDetails:
        "Keeps rows of a batch file until each has its run, and does nothing. Then it is terminated: that is no failure. docs/batches.md",
    }),
  );
};

/** Write the rows of a checked file to Temporal, chunk by chunk; those that are there stay as they are. */
export const uploadChunks = async (
  temporal: Temporal,
  checked: CheckedFile,
  onChunk: (chunks: number) => void,
): Promise<void> => {
  let under: Array<Promise<void>> = [];
  for await (const chunk of chunksAgain(checked)) {
    under.push(uploadChunk(temporal, checked, chunk));
    if (under.length === UPLOADED_AT_ONCE) {
      await Promise.all(under);
      under = [];
      onChunk(chunk.number);
    }
  }
  await Promise.all(under);
};

/**
 * Find the latest run of a batch, if there is one.
 *
 * @throws Refused where something else has its id.
 */
export const findBatch = async (
  { client }: Temporal,
  batch: string,
): Promise<WorkflowExecutionDescription | undefined> => {
  try {
    const found = await client.workflow.getHandle(batch).describe();
    if (found.type === WORKFLOW.payoutBatch) return found;
    throw refused(`${batch} is a run of ${found.type}, and no batch. Nothing was started.`, {
      operation: "describe",
      workflowId: batch,
    });
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
};

/** By whom a batch was started, and above which total it is approved. */
export type StartedAs = Pick<BatchOptions, "approveAbove"> & {
  readonly startedBy: unknown;
  /** Whether it pays what a person had rejected, which a second person approves in any case. */
  readonly isOverruling: boolean;
};

/** Read by whom a batch was started, and above which total it is approved: of its memo, and of its input. */
export const startedAs = async (
  temporal: Temporal,
  { memo, runId, workflowId }: WorkflowExecutionDescription,
): Promise<StartedAs> => {
  const input = await readInput(temporal, { workflowId, runId });
  const approval = isRecord(input) ? input["approval"] : undefined;
  const overruled = isRecord(input) ? input["overruled"] : undefined;
  return {
    startedBy: memo?.["startedBy"],
    approveAbove: textAt(approval, "above"),
    isOverruling: Array.isArray(overruled) && overruled.length > 0,
  };
};

/**
 * Word whether a batch is approved.
 *
 * @param as the limit above which it is, where there is one, and whether it overrules a rejection.
 * @returns such as `with an approval above 10000.00`.
 */
export const approvalText = ({
  approveAbove,
  isOverruling,
}: Pick<StartedAs, "approveAbove" | "isOverruling">): string => {
  if (isOverruling) return "with an approval, since it pays what was rejected";
  return approveAbove === undefined
    ? "without an approval"
    : `with an approval above ${approveAbove}`;
};

/** Refuse where somebody else came first, or the same with another approval. */
const checkStartedAlike = async (
  temporal: Temporal,
  batch: string,
  { approveAbove, startedBy }: BatchOptions,
  isOverruling: boolean,
): Promise<void> => {
  const first = await findBatch(temporal, batch);
  // Deleted meanwhile: nothing says how it was started.
  const as = first && (await startedAs(temporal, first));
  if (as?.startedBy === startedBy && as.approveAbove === approveAbove) return;
  const how = as === undefined ? "" : `, by ${String(as.startedBy)}, ${approvalText(as)}`;
  throw refused(
    `${batch} was started meanwhile${how}. This import, by ${startedBy}, ${approvalText({ approveAbove, isOverruling })}, has started nothing.`,
    { operation: "describeBatch", workflowId: batch },
  );
};

/**
 * Start the batch of chunks that have been written; the same that runs already is left alone.
 *
 * @param overruled what was rejected of its rows before.
 * @returns whether this call has started it.
 * @throws Refused where the one that runs was started by somebody else, or with another approval.
 */
export const startBatch = async (
  temporal: Temporal,
  { account, batch, chunks, file, rows, totals }: CheckedFile,
  options: BatchOptions,
  overruled: ReadonlyArray<OverruledBatch>,
): Promise<boolean> => {
  const { client, settings } = temporal;
  const { approveAbove, startedBy, window } = options;
  const input: PayoutBatchInput = {
    chunks: chunks.length,
    hashes: chunks,
    file: basename(file),
    rows,
    ...(account !== undefined && { account }),
    totals,
    ...(approveAbove !== undefined && { approval: { above: approveAbove } }),
    ...(overruled.length > 0 && { overruled }),
    ...(window !== undefined && { window }),
  };
  const about = {
    mayBe: `${batch} may have been started`,
    next: { operation: "describeBatch", workflowId: batch },
  } as const;
  try {
    await changing(temporal, about, () =>
      client.workflow.start(WORKFLOW.payoutBatch, {
        workflowId: batch,
        taskQueue: settings.taskQueue,
        args: [input],
        // One that was cancelled may be taken up again: its rows know whether they are paid.
        workflowIdReusePolicy: "ALLOW_DUPLICATE",
        workflowIdConflictPolicy: "FAIL",
        memo: { startedBy, rows, chunks: chunks.length, totals, file: basename(file) },
        staticSummary: `Pay ${rows} rows: ${totalsText(totals)}`,
        staticDetails: runDetails(batch, { isBatch: true }),
        typedSearchAttributes: [...startAttributes({})],
      }),
    );
    return true;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    await checkStartedAlike(temporal, batch, options, overruled.length > 0);
    return false;
  }
};
