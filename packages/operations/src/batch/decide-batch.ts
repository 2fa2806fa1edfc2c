import type { Batch, Ledger, NewDecision } from "@durable-payments/ledger";
import { isRecord } from "@durable-payments/api-core/values";
import { isSamePerson } from "@durable-payments/protocol";
import { chunkId } from "@durable-payments/protocol/batches";
import { type Acting, actorOf } from "../acting.ts";
import type { Deciding } from "../decide/record.ts";
import { nudge } from "../decide/nudge.ts";
import { NotFound, refused } from "../errors.ts";

const PAGE = 5_000;

/** How many workflows start the rows of a batch. */
const chunksOfBatch = ({ details }: Batch): number => {
  const parsed: unknown = JSON.parse(details);
  const count = isRecord(parsed) ? parsed["chunks"] : undefined;
  return typeof count === "number" ? count : 0;
};

/** Asks all workflows of a batch to look at the ledger again. */
export const nudgeBatch = async (
  { client }: Pick<Deciding, "client">,
  batch: Batch,
): Promise<void> => {
  for (let number = 1; number <= chunksOfBatch(batch); number++) {
    await nudge(client, chunkId(batch.id, number));
  }
};

const decided = (
  batch: Batch,
  acting: Acting,
  kind: NewDecision["kind"],
  needsReason: boolean,
): NewDecision => ({
  account: batch.account,
  workflowId: batch.id,
  step: null,
  kind,
  question: batch.contentHash,
  ...actorOf(acting, needsReason),
  value: { rows: batch.rows },
});

const waiting = (batch: Batch | undefined, id: string): Batch => {
  if (batch === undefined)
    throw new NotFound({ message: `There is no batch ${id}. Nothing was done.` });
  if (batch.state === "needsApproval") return batch;
  throw refused(
    `${id} does not wait for an approval: it is ${batch.state}. Nothing was recorded.`,
    {
      operation: "show",
      workflowId: id,
    },
  );
};

/**
 * Approves exactly the rows of a batch.
 *
 * @throws Refused where it does not wait for an approval, or the approver uploaded it.
 */
export const approveBatch = async (
  deciding: Deciding,
  id: string,
  acting: Acting,
): Promise<Batch> => {
  const { by } = actorOf(acting);
  const batch = await deciding.ledger.saveBatch(id, (before) => {
    const found = waiting(before, id);
    if (isSamePerson(by, found.createdBy)) {
      throw refused(
        `${found.createdBy} uploaded ${id}, so another person has to approve it. Nothing was recorded.`,
      );
    }
    return {
      batch: { ...found, state: "approved", approvedBy: by },
      decision: decided(found, acting, "approve", false),
    };
  });
  await nudgeBatch(deciding, batch);
  return batch;
};

/** Keeps the rows that were not started from being started. */
const rejectRows = async (ledger: Ledger, id: string, message: string): Promise<number> => {
  let rejected = 0;
  for (;;) {
    const rows = await ledger.batchRows(id, { states: ["waiting"], limit: PAGE });
    if (rows.length === 0) return rejected;
    await ledger.changeRows(
      id,
      rows.map(({ number }) => ({ number, state: "rejected", message })),
    );
    rejected += rows.length;
  }
};

/** Ends a batch: rows that were not started stay unpaid, also if their file is paid again by this id. */
const endBatch = async (
  deciding: Deciding,
  id: string,
  acting: Acting,
  check: (before: Batch | undefined) => Batch,
  kind: "reject" | "cancel",
): Promise<{ readonly batch: Batch; readonly rejected: number }> => {
  const { by, reason } = actorOf(acting, true);
  const batch = await deciding.ledger.saveBatch(id, (before) => {
    const found = check(before);
    return { batch: { ...found, state: "rejected" }, decision: decided(found, acting, kind, true) };
  });
  const verb = kind === "reject" ? "Rejected" : "Cancelled";
  const rejected = await rejectRows(deciding.ledger, id, `${verb} by ${by}: ${reason}`);
  await nudgeBatch(deciding, batch);
  return { batch, rejected };
};

/** Rejects a batch that waits for its approval: none of its rows is paid. */
export const rejectBatch = (deciding: Deciding, id: string, acting: Acting) =>
  endBatch(deciding, id, acting, (before) => waiting(before, id), "reject");

/** Cancels a batch: no more of its rows are started; the runs that were started continue. */
export const cancelBatch = (deciding: Deciding, id: string, acting: Acting) =>
  endBatch(
    deciding,
    id,
    acting,
    (before) => {
      if (before !== undefined) return before;
      throw new NotFound({ message: `There is no batch ${id}. Nothing was done.` });
    },
    "cancel",
  );
