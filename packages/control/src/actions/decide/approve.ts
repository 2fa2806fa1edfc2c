import { limitsId, whyNobody, whyNotApprover, type WriteRow } from "@durable-payments/ledger";
import type { Connected } from "../../facts/connection/connections.ts";
import { refused } from "../../errors.ts";
import { approvableOf } from "../../rules/approval.ts";
import { decideBatch } from "../batch/batch.ts";
import { approveLimits } from "../limits.ts";
import { askedRow, writesOf } from "./answer.ts";
import { actorOf, type Approving, decisionOn, hashOfRead } from "./record.ts";

type OfLedger = Pick<Connected, "ledger">;

/** A second person's decision. */
export interface Approval extends Approving {
  /** Id of the approval question that was read; left out if the run asks for one approval only. */
  readonly question?: string | undefined;
}

const theApproval = async ({ ledger }: OfLedger, workflowId: string, question?: string) =>
  askedRow({ rows: await writesOf(ledger, workflowId) }, workflowId, question, "approval");

/** Words what the approver of a payment has read: the amount, the payee and its account. */
const seenOf = ({ question, request: { amount, currency } }: WriteRow): string => {
  const reason = question?.reason ?? "";
  const money = amount === null ? "" : `${amount} ${currency ?? ""}`;
  return reason.includes(money) ? reason : `${money}: ${reason}`;
};

/** Whether the person has approved the same already: the answer was lost, and the program asks again. */
const isRepeated = async ({ ledger }: OfLedger, id: string, by: string, hash: string) => {
  const ids = new Set([id, ...(await ledger.rowsOf(id)).map(({ workflowId }) => workflowId)]);
  const decisions = await Promise.all([...ids].map((one) => ledger.decisionsOf(one)));
  return decisions
    .flat()
    .some((one) => one.kind === "approve" && one.by === by && one.value["hash"] === hash);
};

/** Approves exactly the send that a run shows: another generation, content or account needs a new approval. */
const approvePayment = async (deciding: OfLedger, workflowId: string, given: Approval) => {
  const actor = actorOf(given);
  if (await isRepeated(deciding, workflowId, actor.by, given.hash)) return;
  const row = await theApproval(deciding, workflowId, given.question);
  const { generation, question, request, step } = row;
  const decision = decisionOn(row, "approve", actor, {
    step,
    question: question?.id ?? null,
    value: {
      generation,
      terms: request.terms,
      account: question?.account ?? null,
      seen: seenOf(row),
      hash: given.hash,
    },
  });
  await deciding.ledger.decide(decision, ({ decisions, rows }) => {
    const asked = askedRow({ rows }, row.workflowId, question?.id, "approval");
    const { hash } = approvableOf(asked, decisions);
    const isSame = asked.generation === generation && asked.request.terms === request.terms;
    const isSeen = isSame && given.hash === hash;
    const why =
      whyNobody(asked.question?.root, asked, decisions) ??
      whyNotApprover(actor.by, asked, decisions) ??
      (isSeen ? undefined : `It has changed: read it again. Its hash is now ${hash}.`);
    if (why === undefined) return [asked];
    throw refused(`${why} Nothing was recorded.`, workflowId);
  });
};

const LIMITS = limitsId("");

/**
 * Approves exactly what was shown: the send of a payment, the rows of a file, or looser limits.
 *
 * @param id of the write, of the run that asks for it, or of its root; of a batch; or of limits, as the inbox has them.
 * An approval that the same person repeats, because its answer was lost, is already there: nothing more is recorded.
 *
 * @throws InvalidInput if `hash` is missing, or not a hash; NotAllowed if the approver has a part in it, nobody is known to have started it, or it is not what `hash` says;
 *   NotFound if nothing waits for approval.
 */
export const approve = async (deciding: OfLedger, id: string, given: Approval): Promise<void> => {
  hashOfRead(given);
  if (id.startsWith(LIMITS)) {
    await approveLimits(deciding, id.slice(LIMITS.length), given);
  } else if ((await deciding.ledger.batch(id)) !== undefined) {
    await decideBatch(deciding, id, "approve", given);
  } else await approvePayment(deciding, id, given);
};

/**
 * Rejects a payment that needs approval, after which nothing more is sent under its workflow id; or a file, of which no
 * row is paid.
 *
 * @throws as {@link approve}; a requester may reject their own payment.
 */
export const reject = async (
  deciding: OfLedger,
  workflowId: string,
  given: Omit<Approval, "hash">,
): Promise<void> => {
  const actor = actorOf(given, true);
  if ((await deciding.ledger.batch(workflowId)) !== undefined) {
    await decideBatch(deciding, workflowId, "reject", given);
    return;
  }
  const row = await theApproval(deciding, workflowId, given.question);
  const question = row.question?.id ?? null;
  const decision = decisionOn(row, "end", actor, { question, value: { rejected: true } });
  await deciding.ledger.decide(decision, ({ rows }) => rows);
};
