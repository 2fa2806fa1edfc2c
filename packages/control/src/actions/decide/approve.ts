import {
  type Decision,
  type DecisionLook,
  isSamePerson,
  type WriteRow,
} from "@durable-payments/ledger";
import type { Deciding } from "../../facts/connection/operations.ts";
import { notFound, refused } from "../../errors.ts";
import { awaitsApproval } from "../../rules/standing.ts";
import { askedRow } from "./answer.ts";
import { type Acting, actorOf, type Decided, decisionOn, record } from "./record.ts";

/** A second person's decision. */
export interface Approval extends Acting {
  /** Id of the approval question that was read; left out if the run asks for one approval only. */
  readonly question?: string | undefined;
}

/** Decisions that make a person responsible for a send: another person has to approve it. */
const HAS_PART: Readonly<Partial<Record<Decision["kind"], string>>> = {
  amend: "amended it",
  overrule: "overrode its stop order",
  resend: "had it sent again",
};

/** Returns why a person is not the second person: they started, amended, overrode or resent it, in any spelling. */
const whyNotApprover = (
  by: string,
  requester: string | null,
  { decisions, startedBy }: Pick<DecisionLook, "decisions" | "startedBy">,
): string | undefined => {
  if (requester === null)
    return "Nobody can approve it, because its run does not say who started it: reject it, and start it with startPayment.";
  for (const starter of [requester, startedBy ?? requester])
    if (isSamePerson(by, starter))
      return `${starter} started it, so another person has to approve it.`;
  for (const decision of decisions) {
    const part = HAS_PART[decision.kind];
    if (part !== undefined && isSamePerson(by, decision.by))
      return `${decision.by} ${part}, so another person has to approve it.`;
  }
  return undefined;
};

const theApproval = async (
  { ledger }: Deciding,
  workflowId: string,
  question: string | undefined,
): Promise<WriteRow> => {
  const waiting = (await ledger.rowsOf(workflowId)).filter(awaitsApproval);
  if (question !== undefined) return askedRow({ rows: waiting }, workflowId, question, "approval");
  const [only, ...others] = waiting;
  if (only === undefined) {
    throw notFound(`${workflowId} is not waiting for approval. Nothing was recorded.`, {
      operation: "show",
      workflowId,
    });
  }
  if (others.length === 0) return only;
  const ids = waiting.map((row) => `${row.question?.id} (${row.step})`).join(", ");
  throw refused(
    `${workflowId} is waiting for ${waiting.length} approvals: choose one with --for: ${ids}. Nothing was recorded.`,
  );
};

/**
 * Approves exactly the request that a run shows: another generation, content or account needs a new approval.
 *
 * @param workflowId the root workflow id.
 * @throws Refused if the approver has a part in the payment, or the question has changed.
 */
export const approve = async (
  deciding: Deciding,
  workflowId: string,
  given: Approval,
): Promise<Decided> => {
  const actor = actorOf(given);
  const row = await theApproval(deciding, workflowId, given.question);
  const { question, request, step } = row;
  const decision = decisionOn(row, "approve", actor, {
    step,
    question: question?.id ?? null,
    value: {
      generation: row.generation,
      hash: request.hash,
      account: question?.account ?? null,
    },
  });
  return record(deciding, decision, (look) => {
    const asked = askedRow(look, workflowId, question?.id ?? "", "approval");
    const isChanged = asked.generation !== row.generation || asked.request.hash !== request.hash;
    const why =
      whyNotApprover(actor.by, row.startedBy, look) ??
      (isChanged ? `The request of ${step} has changed since you read it.` : undefined);
    if (why === undefined) return [asked];
    throw refused(`${why} Nothing was recorded.`, workflowId);
  });
};

/**
 * Rejects a payment that needs approval: nothing more is sent under its workflow id.
 *
 * @throws as {@link approve}; a requester may reject their own payment.
 */
export const reject = async (
  deciding: Deciding,
  workflowId: string,
  given: Approval,
): Promise<Decided> => {
  const actor = actorOf(given, true);
  const row = await theApproval(deciding, workflowId, given.question);
  const question = row.question?.id ?? null;
  const decision = decisionOn(row, "end", actor, { question, value: { rejected: true } });
  return record(deciding, decision, ({ rows }) => rows);
};
