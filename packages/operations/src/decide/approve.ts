import {
  type Decision,
  type DecisionLook,
  isSamePerson,
  type WriteRow,
} from "@durable-payments/ledger";
import { type Acting, actorOf } from "../acting.ts";
import { NotFound, refused } from "../errors.ts";
import { askedRow } from "./answer.ts";
import { type Decided, type Deciding, decisionOn, record } from "./record.ts";

/** A second person's decision. */
export interface Approval extends Acting {
  /** Id of the approval question that was read; left out where the run asks for one approval only. */
  readonly question?: string | undefined;
}

/** Returns the writes that wait for a second person. */
const approvalsOf = (rows: ReadonlyArray<WriteRow>): ReadonlyArray<WriteRow> =>
  rows.filter(({ question, state }) => question?.kind === "approval" && state !== "ended");

/** What makes somebody responsible for what is sent: then another person has to approve it. */
const HAS_PART: Readonly<Partial<Record<Decision["kind"], string>>> = {
  amend: "amended it",
  overrule: "overruled its end",
  resend: "had it sent again",
};

/** Says why somebody is not the second person: they started, amended, overruled or resent it, in whatever spelling. */
const whyNotApprover = (
  by: string,
  { decisions, startedBy }: Pick<DecisionLook, "decisions" | "startedBy">,
): string | undefined => {
  if (startedBy !== null && isSamePerson(by, startedBy))
    return `${startedBy} started it, so another person has to approve it.`;
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
  const waiting = approvalsOf(await ledger.rowsOf(workflowId));
  if (question !== undefined) return askedRow({ rows: waiting }, workflowId, question, "approval");
  const [only, ...others] = waiting;
  if (only === undefined) {
    throw new NotFound({
      message: `${workflowId} does not wait for an approval. Nothing was recorded.`,
      next: { operation: "show", workflowId },
    });
  }
  if (others.length === 0) return only;
  const ids = waiting.map((row) => `${row.question?.id} (${row.step})`).join(", ");
  throw refused(
    `${workflowId} waits for ${waiting.length} approvals: say which one by --for: ${ids}. Nothing was recorded.`,
  );
};

/**
 * Approves exactly the request that a run shows: another generation, content or account asks again.
 *
 * @param workflowId the root workflow id.
 * @throws Refused where the approver has a part in the payment, or it asks something else by now.
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
      whyNotApprover(actor.by, look) ??
      (isChanged ? `The request of ${step} has changed since you read it.` : undefined);
    if (why === undefined) return [asked];
    throw refused(`${why} Nothing was recorded.`, { operation: "show", workflowId });
  });
};

/**
 * Rejects what a run wants approved: nothing more is sent under its workflow id.
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
