/*
 * How a batch is begun. Files and repairs share this: its rows are kept before any is started, and each chunk of them is the
 * input of one workflow. Temporal refuses an input that is too large, and an id for each chunk makes an interrupted start safe
 * to repeat.
 */
import {
  type Actor,
  type Batch,
  type Ledger,
  needsApproval,
  type NewBatch,
  type NewDecision,
} from "@durable-payments/ledger";
import { atOnce, batchQueue, WORKFLOW, type Workflows } from "@durable-payments/protocol";
import { chunkId, MOST_ROWS_OF_CHUNK, type BatchChunk } from "@durable-payments/protocol/calls";
import { isAmount } from "@durable-payments/protocol/inputs";
import type { Connected } from "../../facts/connection/connections.ts";
import type { Money } from "../../rules/run-view.ts";
import { invalidInput } from "../../errors.ts";
import { changing } from "../../facts/connection/temporal-errors.ts";
import { decisionOn } from "../decide/record.ts";

/** Most started rows of a batch at a time that neither wait nor have ended. */
const DEFAULT_WINDOW = 200;

/** States of a batch that starts no row any more. */
export const OVER: ReadonlySet<Batch["state"]> = new Set(["rejected", "cancelled", "finished"]);

/** How fast the rows of a batch begin: `rate` a second, and at most `window` that neither wait nor have ended. */
type Pace = Readonly<Partial<Record<"rate" | "window", number | undefined>>>;

/**
 * Checks how fast the rows of a batch begin, and above which sum a person has to approve them. With 0, no row would ever start.
 * The same holds for an infinite number, which is null in JSON.
 *
 * @throws InvalidInput
 */
export const checkBatchOptions = ({
  approveAbove,
  rate = 1,
  window = 1,
}: Pace & { readonly approveAbove?: string | undefined }): void => {
  if (!(rate > 0 && window >= 1 && Number.isFinite(rate) && Number.isFinite(window)))
    throw invalidInput("The rate must be above 0, and the window 1 or more. Nothing was done.");
  if (approveAbove !== undefined && !isAmount(approveAbove))
    throw invalidInput(
      'The limit (approveAbove) must be a decimal amount, such as "10000.00". Nothing was done.',
    );
};

/** Whether a second person has to approve sums of an account: by its limits, or because the caller wants it. */
export const needSecond = async (
  ledger: Ledger,
  account: string,
  sums: Money,
  approveAbove: string | undefined,
): Promise<boolean> => {
  const limits = await ledger.limits(account);
  return sums.some(
    (sum) => needsApproval(sum, [approveAbove], [limits.approveAbove]) !== undefined,
  );
};

/** Temporal refuses payloads of 2 MB. */
const MOST_BYTES = 900_000;

/**
 * Divides rows into chunks that Temporal takes as one input.
 *
 * @param bytesOf the size of a row as it is sent.
 */
export const inChunks = <Row>(
  rows: ReadonlyArray<Row>,
  bytesOf: (row: Row) => number,
): ReadonlyArray<ReadonlyArray<Row>> => {
  const chunks: Array<Array<Row>> = [];
  let bytes = 0;
  for (const row of rows) {
    const size = bytesOf(row);
    const last = chunks.at(-1);
    if (last === undefined || last.length === MOST_ROWS_OF_CHUNK || bytes + size > MOST_BYTES) {
      chunks.push([row]);
      bytes = size;
    } else {
      last.push(row);
      bytes += size;
    }
  }
  return chunks;
};

/**
 * Keeps a batch with the decision of who has begun it, until all of its rows are kept.
 *
 * @param check refuses to continue a batch that was begun before.
 * @returns the batch as it is then.
 */
export const beginBatch = (
  { ledger }: Pick<Connected, "ledger">,
  batch: Omit<NewBatch, "approvedBy" | "createdAt" | "createdBy" | "state">,
  actor: Actor,
  value: NewDecision["value"],
  check: (before: Batch) => void = () => undefined,
): Promise<Batch> =>
  ledger.saveBatch(batch.id, (before) => {
    if (before !== undefined) {
      check(before);
      return { batch: before };
    }
    const { account, contentHash: question, id: workflowId } = batch;
    const created = { createdBy: actor.by, createdAt: 0, approvedBy: null } as const;
    return {
      batch: { ...batch, ...created, state: "uploading" },
      decision: decisionOn({ account, workflowId }, "start", actor, { question, value }),
    };
  });

/**
 * Lets the rows of a batch start, or wait for an approval. It is called last, so that a batch that is kept in part pays nothing.
 * Another call for the same batch may have been first.
 */
export const endUpload = (
  { ledger }: Pick<Connected, "ledger">,
  begun: Batch,
  state: Batch["state"],
): Promise<Batch> =>
  ledger.saveBatch(begun.id, (before = begun) => ({
    batch: before.state === "uploading" ? { ...before, state } : before,
  }));

/**
 * Starts the workflows of a batch, each with a chunk of its rows. An open one continues.
 *
 * @param rate and `window`: of all chunks together.
 * @param mayBe what may have happened if Temporal does not answer, in words for a person.
 * @throws ConnectionFailed with `carriedOut: "unknown"` if Temporal does not answer.
 */
export const startChunks = async (
  connected: Connected,
  { createdBy: startedBy, id }: Batch,
  mayBe: string,
  chunks: ReadonlyArray<BatchChunk["rows"]>,
  { rate, window = DEFAULT_WINDOW }: Pace,
): Promise<void> => {
  const { client, taskQueue } = connected;
  const share = {
    batch: id,
    startedBy,
    window: Math.ceil(window / chunks.length),
    ...(rate !== undefined && { rate: rate / chunks.length }),
  };
  await atOnce([...chunks.entries()], ([at, rows]) =>
    changing(connected, id, mayBe, () =>
      client.workflow.start<Workflows["runBatch"]>(WORKFLOW.runBatch, {
        workflowId: chunkId(id, at + 1),
        taskQueue: batchQueue(taskQueue),
        args: [{ ...share, rows }],
        // An ended workflow may be started again: the ledger knows the started rows.
        workflowIdReusePolicy: "ALLOW_DUPLICATE",
        workflowIdConflictPolicy: "USE_EXISTING",
        staticSummary: `${rows.length} rows of ${id}`,
      }),
    ),
  );
};
