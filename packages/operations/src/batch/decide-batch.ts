import { type Batch, isSamePerson } from "@durable-payments/ledger";
import { chunkId } from "@durable-payments/protocol/calls";
import { type Acting, actorOf } from "../acting.ts";
import { type Deciding, decisionOn, nudge } from "../decide/record.ts";
import { NotFound, refused } from "../errors.ts";
import { keptOf } from "./details.ts";

/** Asks all workflows of a batch to look at the ledger again. */
export const nudgeBatch = async (
  { client }: Pick<Deciding, "client">,
  batch: Batch,
): Promise<void> => {
  const { chunks } = keptOf(batch);
  for (let number = 1; number <= chunks; number++) await nudge(client, chunkId(batch.id, number));
};

/** Changes the state of a batch together with the decision on it. */
const decideBatch = async (
  { ledger }: Deciding,
  id: string,
  acting: Acting,
  kind: "approve" | "reject" | "cancel",
): Promise<Batch> => {
  const actor = actorOf(acting, kind !== "approve");
  return ledger.saveBatch(id, (before) => {
    if (before === undefined)
      throw new NotFound({ message: `There is no batch ${id}. Nothing was done.` });
    if (kind !== "cancel" && before.state !== "needsApproval") {
      throw refused(
        `${id} does not wait for an approval: it is ${before.state}. Nothing was recorded.`,
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
  const batch = await decideBatch(deciding, id, acting, "approve");
  await nudgeBatch(deciding, batch);
  return batch;
};

/** Ends a batch: rows that were not started stay unpaid, also if their file is paid again by this id. */
const endBatch =
  (kind: "reject" | "cancel", verb: string) =>
  async (
    deciding: Deciding,
    id: string,
    acting: Acting,
  ): Promise<{ readonly batch: Batch; readonly rejected: number }> => {
    const { ledger } = deciding;
    const batch = await decideBatch(deciding, id, acting, kind);
    const rejected = await ledger.rejectRows(id, `${verb} by ${acting.by}: ${acting.reason}`);
    await nudgeBatch(deciding, batch);
    return { batch, rejected };
  };

/** Rejects a batch that waits for its approval: none of its rows is paid. */
export const rejectBatch = endBatch("reject", "Rejected");

/** Cancels a batch: no more of its rows are started; the runs that were started continue. */
export const cancelBatch = endBatch("cancel", "Cancelled");
