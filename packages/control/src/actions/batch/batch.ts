import { isRecord, lookUp } from "@durable-payments/client/values";
import {
  type Actor,
  type Batch,
  type BatchRow,
  type Decision,
  isSamePerson,
  PURPOSES,
  whyNotApprover,
} from "@durable-payments/ledger";
import { chunksOf } from "effect/Array";
import type { Connected } from "../../facts/connection/connections.ts";
import { type Acting, actorOf, decisionOn, hashOfRead } from "../decide/record.ts";
import { notFound, refused } from "../../errors.ts";
import { hashOfRows, ownRows, payeesOf } from "../../rules/listing.ts";
import { sumMoney } from "../../rules/run-view.ts";

/** Data of a batch besides its rows, as JSON. */
export type KeptOfBatch = ReturnType<typeof keptOf>;

/** Reads the data of a batch besides its rows. */
export const keptOf = ({ details }: Pick<Batch, "details">) => {
  const parsed: unknown = JSON.parse(details);
  const kept: Readonly<Record<string, unknown>> = isRecord(parsed) ? parsed : {};
  const { notDuplicate, reason, warnings } = kept;
  return {
    /** The likely duplicates, for its approver. */
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
    /** The uploader's reason to pay them. */
    notDuplicate: typeof notDuplicate === "string" ? notDuplicate : null,
    /** Why a person repairs runs. */
    reason: typeof reason === "string" ? reason : null,
  };
};

/** Decisions that one flight to the ledger has. */
const DECIDED_AT_ONCE = 100;

/** Records the approval of each row in the log of its own workflow id, where alone it permits a send. */
const approveRows = async (
  { ledger }: Pick<Connected, "ledger">,
  { account, contentHash, id, type }: Batch,
  rows: ReadonlyArray<BatchRow>,
  actor: Actor,
): Promise<void> => {
  const step = lookUp(PURPOSES, type) ?? "";
  const approveRow = async (row: BatchRow): Promise<void> => {
    const { amount, currency, mark, number, shown, terms, workflowId } = row;
    // The gate decides with what is recorded then: this is for a message, and after an interruption.
    const decisions = await ledger.decisionsOf(workflowId);
    const isStart = ({ kind, value: { file, terms: started } }: Decision) =>
      kind === "start" && isRecord(file) && file["batch"] === id && started === terms;
    const why = decisions.some(isStart)
      ? whyNotApprover(actor.by, { workflowId, step }, decisions)
      : "It differs from the row that was uploaded.";
    if (why !== undefined) throw refused(`Row ${number} of ${id}: ${why} It was not approved.`, id);
    const last = decisions.findLast(({ kind }) => kind === "start" || kind === "approve");
    if (last?.kind === "approve" && last.by === actor.by && last.value["account"] === mark) return;
    const seen = `${amount} ${currency} to ${shown}`;
    const value = { generation: 1, terms, account: mark, file: id, seen };
    const about = { step, question: contentHash, value };
    await ledger.decide(decisionOn({ account, workflowId }, "approve", actor, about));
  };
  for (const part of chunksOf(rows, DECIDED_AT_ONCE)) await Promise.all(part.map(approveRow));
};

/** Refuses an approval unless the person may give it, and has seen these rows. Returns their hash. */
const checkApproval = (
  { createdBy, id }: Batch,
  rows: ReadonlyArray<BatchRow>,
  by: string,
  read: string,
): string => {
  if (isSamePerson(by, createdBy))
    throw refused(
      `${createdBy} uploaded ${id}, so another person has to approve it. Nothing was recorded.`,
    );
  if (rows.some(({ shown }) => shown === null))
    throw refused(
      `Not all payees or cardholders of ${id} have been read yet: try again in a minute. Nothing was recorded.`,
      id,
    );
  const seen = hashOfRows(rows);
  if (read !== seen)
    throw refused(
      `The rows of ${id} have changed since they were shown. Nothing was recorded.`,
      id,
    );
  return seen;
};

/** Refuses to stop a batch that starts nothing more. @throws NotAllowed */
export const checkStarting = ({ id, state }: Pick<Batch, "id" | "state">): void => {
  if (state === "finished" || state === "rejected")
    throw refused(
      `${id} is ${state}: it starts nothing more. Stop a run by its own id. Nothing was recorded.`,
      id,
    );
};

/**
 * Approves exactly the rows of a batch, rejects all of them, or cancels the batch. After a cancellation, started runs
 * continue. Rows that were not started stay unpaid, even if the same file is paid again. An approval that was interrupted
 * approves nothing until it is repeated: the batch starts no row before.
 *
 * @param decision `hash`: of the rows that the approver has read; an approval needs it.
 * @returns the batch, and the number of its unpaid rows.
 * @throws InvalidInput for an approval without `hash`; NotAllowed if it cannot be cancelled any more, or does not wait
 *   for an approval. Also if the approver uploaded or started it, or it has other rows than `hash` says.
 */
export const decideBatch = async (
  deciding: Pick<Connected, "ledger">,
  id: string,
  kind: "approve" | "cancel" | "reject",
  decision: Acting & { readonly hash?: string | undefined },
): Promise<{ readonly batch: Batch; readonly rejected: number }> => {
  const { ledger } = deciding;
  const actor = actorOf(decision, kind !== "approve");
  const read = kind === "approve" ? hashOfRead(decision) : "";
  const check = (batch: Batch | undefined): Batch => {
    if (batch === undefined) throw notFound(`There is no batch ${id}. Nothing was done.`);
    if (kind === "cancel") checkStarting(batch);
    const { approvedBy, state } = batch;
    const isAsking = state === "needsApproval" || (kind === "reject" && state === "reading");
    if (kind === "cancel" || isAsking) return batch;
    const how = state === "approved" && approvedBy === null ? "was started" : `is ${state}`;
    throw refused(`${id} is not waiting for approval: it ${how}. Nothing was recorded.`, id);
  };
  const found = await ledger.batch(id);
  // The answer to the same approval was lost. Once it is cancelled, nobody can approve it.
  if (kind === "approve" && found?.approvedBy === actor.by && found.state !== "cancelled")
    if (read === hashOfRows(await ledger.batchRows(id))) return { batch: found, rejected: 0 };
  const seen = check(found);
  let value = {};
  if (kind === "approve") {
    const rows = ownRows(await ledger.batchRows(id));
    const sums = sumMoney(rows).map(({ amount, currency }) => `${amount} ${currency}`);
    const payees = payeesOf(rows).size;
    value = {
      rows: rows.length,
      hash: checkApproval(seen, rows, actor.by, read),
      seen: `${sums.join(", ")}${payees === 0 ? "" : ` to ${payees} ${seen.type === "onboardCardholder" ? (payees === 1 ? "person" : "people") : payees === 1 ? "payee" : "payees"}`}`,
    };
    // A repair changes no rule of a send: a payment that needs approval asks for its own.
    if (seen.type !== "repair") await approveRows(deciding, seen, rows, actor);
  }
  const batch = await ledger.saveBatch(id, (found) => {
    const before = check(found);
    const { account, contentHash: question } = before;
    return {
      batch:
        kind === "approve"
          ? { ...before, state: "approved", approvedBy: actor.by }
          : { ...before, state: kind === "cancel" ? "cancelled" : "rejected" },
      decision: decisionOn({ account, workflowId: id }, kind, actor, { question, value }),
    };
  });
  const rejected = kind === "approve" ? 0 : await ledger.rejectRows(id);
  return { batch, rejected };
};
