import { isRecord } from "@durable-payments/api-core/values";
import { type Batch, isSamePerson } from "@durable-payments/ledger";
import { batchQueue, WORKFLOW, type Workflows } from "@durable-payments/protocol";
import { chunkId, type PayoutChunk } from "@durable-payments/protocol/calls";
import type { Deciding, Operations } from "../../facts/connection/operations.ts";
import { type Acting, actorOf, decisionOn, nudge } from "../decide/record.ts";
import { notFound, refused } from "../../errors.ts";

/** Data of a batch besides its rows, as JSON. */
export type KeptOfBatch = ReturnType<typeof keptOf>;

/** Reads the data of a batch besides its rows. */
export const keptOf = ({ details }: Pick<Batch, "details">) => {
  const parsed: unknown = JSON.parse(details);
  const { chunks, warnings }: Readonly<Record<string, unknown>> = isRecord(parsed) ? parsed : {};
  return {
    /** Workflows that start its rows. */
    chunks: typeof chunks === "number" ? chunks : 0,
    /** The likely duplicates, for its approver. */
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
  };
};

/** Starts a workflow that starts and follows rows of a batch; an open one continues. */
export const startChunk = (
  { client, taskQueue }: Pick<Operations, "client" | "taskQueue">,
  workflowId: string,
  chunk: PayoutChunk,
  staticSummary: string,
): Promise<unknown> =>
  client.workflow.start<Workflows["payoutBatch"]>(WORKFLOW.payoutBatch, {
    workflowId,
    taskQueue: batchQueue(taskQueue),
    args: [chunk],
    // An ended workflow may be started again: the ledger knows the started rows.
    workflowIdReusePolicy: "ALLOW_DUPLICATE",
    workflowIdConflictPolicy: "USE_EXISTING",
    staticSummary,
  });

/** Asks all workflows of a batch to look at the ledger again. */
export const nudgeBatch = async (
  { client }: Pick<Deciding, "client">,
  batch: Batch,
): Promise<void> => {
  const { chunks } = keptOf(batch);
  for (let number = 1; number <= chunks; number++) await nudge(client, chunkId(batch.id, number));
};

const NOT_PAID = { reject: "Rejected", cancel: "Cancelled" } as const;

/**
 * Approves exactly the rows of a batch, rejects all of them, or cancels the batch. After a cancellation, started runs
 * continue. Rows that were not started stay unpaid, even if the same file is paid again.
 *
 * @returns the batch, and the number of its unpaid rows.
 * @throws Refused if it does not wait for an approval, or the approver uploaded it.
 */
export const decideBatch = async (
  deciding: Deciding,
  id: string,
  kind: "approve" | keyof typeof NOT_PAID,
  acting: Acting & { readonly hash?: string | undefined },
): Promise<{ readonly batch: Batch; readonly rejected: number }> => {
  const { ledger } = deciding;
  const actor = actorOf(acting, kind !== "approve");
  const batch = await ledger.saveBatch(id, (before) => {
    if (before === undefined) throw notFound(`There is no batch ${id}. Nothing was done.`);
    if (kind !== "cancel" && before.state !== "needsApproval") {
      throw refused(
        `${id} is not waiting for approval: it is ${before.state}. Nothing was recorded.`,
        id,
      );
    }
    if (kind === "approve" && isSamePerson(actor.by, before.createdBy)) {
      throw refused(
        `${before.createdBy} uploaded ${id}, so another person has to approve it. Nothing was recorded.`,
      );
    }
    return {
      batch:
        kind === "approve"
          ? { ...before, state: "approved", approvedBy: actor.by }
          : { ...before, state: "rejected" },
      decision: decisionOn({ account: before.account, workflowId: id }, kind, actor, {
        question: before.contentHash,
        value: { rows: before.rows },
      }),
    };
  });
  const rejected =
    kind === "approve"
      ? 0
      : await ledger.rejectRows(id, `${NOT_PAID[kind]} by ${actor.by}: ${actor.reason}`);
  await nudgeBatch(deciding, batch);
  return { batch, rejected };
};
