import {
  type Actor,
  type Decision,
  type DecisionLook,
  isSamePerson,
  type JsonObject,
  type WriteRow,
} from "@durable-payments/ledger";
import { invalidInput, isOperationError, notFound, refused } from "../errors.ts";
import { awaitsApproval, isAsking } from "../show/standing.ts";
import { type Choice, CHOICES } from "./consequences.ts";
import { type Acting, actorOf, type Decided, type Deciding, decisionOn, record } from "./record.ts";

/** An answer of a person. */
export interface Answer extends Acting {
  readonly choose: Choice;
  /** Id of the question that was read: no other question is answered. */
  readonly question: string;
  /** For `found`: the service's id of the result. */
  readonly found?: string | undefined;
}

/** Finds the write of a question; refuses if it is answered, or replaced by another question. */
const askedRow = (
  { rows }: Pick<DecisionLook, "rows">,
  workflowId: string,
  question: string,
  kind: "outcome" | "approval",
): WriteRow => {
  const open = rows.filter((row) => row.question?.kind === kind && row.state !== "ended");
  const row = open.find((one) => one.question?.id === question);
  if (row !== undefined) return row;
  const [now] = open;
  throw refused(
    now?.question
      ? `The question ${question} is not open. ${workflowId} asks now (${now.question.id}, ${now.step}): ${now.question.reason} Nothing was recorded.`
      : `${workflowId} has no open question: it was answered, or the outcome is known. Nothing was recorded.`,
    workflowId,
  );
};

/** The first answer wins: a question with an unused answer takes no other. */
const checkUnanswered = ({ decisions }: DecisionLook, row: WriteRow): void => {
  const first = decisions.find(
    ({ question, kind, sequence }) =>
      question === row.question?.id &&
      (kind === "found" || kind === "resend") &&
      sequence > row.decisionsAfter,
  );
  if (first === undefined) return;
  throw refused(
    `${first.by} has answered this question already (${first.kind}). Only an end takes precedence. Nothing was recorded.`,
    row.workflowId,
  );
};

/** Checks an answer without the ledger. @throws InvalidInput */
export const checkAnswer = (
  given: Answer,
): { readonly actor: Actor; readonly value: JsonObject } => {
  const { choose, found = "" } = given;
  if (!CHOICES.includes(choose))
    throw invalidInput(`The answer must be one of: ${CHOICES.join(", ")}. Nothing was done.`);
  if (choose !== "found" && given.found !== undefined)
    throw invalidInput("An id (--found) belongs to --choose found only. Nothing was done.");
  if (choose === "found" && found.trim() === "")
    throw invalidInput("--choose found needs the id of the result: --found ID. Nothing was done.");
  const actor = actorOf(given, choose !== "found");
  return { actor, value: choose === "found" ? { id: found.trim() } : {} };
};

/**
 * Answers the question of a run about the outcome of a write.
 *
 * @param workflowId the root workflow id, under which the ledger keeps the write.
 * @returns the decision as recorded; the run uses it at its next look, and checks it then.
 * @throws InvalidInput, Refused if the question is not open, NotFound if the ledger does not know the id.
 */
export const answer = async (
  deciding: Deciding,
  workflowId: string,
  given: Answer,
): Promise<Decided> => {
  const { actor, value } = checkAnswer(given);
  const { choose, question } = given;
  const rows = await deciding.ledger.rowsOf(workflowId);
  if (rows.length === 0) {
    throw notFound(`The ledger has no write of ${workflowId}. Nothing was recorded.`);
  }
  const row = askedRow({ rows }, workflowId, question, "outcome");
  // An end belongs to the workflow id as a whole.
  const step = choose === "end" ? null : row.step;
  const decision = decisionOn(row, choose, actor, { step, question, value });
  return record(deciding, decision, (look) => {
    const asked = askedRow(look, workflowId, question, "outcome");
    if (choose === "end") return look.rows;
    checkUnanswered(look, asked);
    return [asked];
  });
};

/** Without `found`, because each write has its own id. */
export interface AnswerAll extends Acting {
  readonly choose: "resend" | "end";
}

/** Returns the open questions about an operation, those that wait longest first. */
export const findAlike = async (
  { ledger }: Pick<Deciding, "ledger">,
  operation: string,
): Promise<ReadonlyArray<WriteRow>> =>
  (await ledger.rows({ operations: [operation], needsPerson: true })).filter(isAsking);

/**
 * Gives the same answer to all open questions about an operation that a person has seen.
 *
 * @param seen the result of `findAlike`: later questions are not answered.
 */
export const answerAll = async (
  deciding: Deciding,
  seen: ReadonlyArray<WriteRow>,
  given: AnswerAll,
) => {
  const answered: Array<string> = [];
  const notAnswered: Array<{ readonly workflowId: string; readonly message: string }> = [];
  let unanswered = 0;
  for (const { question, workflowId } of seen) {
    try {
      const about = { ...given, question: question?.id ?? "" };
      const { nudged } = await answer(deciding, workflowId, about);
      if (nudged === "unanswered") unanswered += 1;
      answered.push(workflowId);
    } catch (error) {
      if (!isOperationError(error)) throw error;
      notAnswered.push({ workflowId, message: error.message });
    }
  }
  return { answered, refused: notAnswered, unanswered };
};

/** A second person's decision. */
export interface Approval extends Acting {
  /** Id of the approval question that was read; left out if the run asks for one approval only. */
  readonly question?: string | undefined;
}

/** Decisions that make a person responsible for a send: another person has to approve it. */
const HAS_PART: Readonly<Partial<Record<Decision["kind"], string>>> = {
  amend: "amended it",
  overrule: "overruled its end",
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
    throw notFound(`${workflowId} does not wait for an approval. Nothing was recorded.`, {
      operation: "show",
      workflowId,
    });
  }
  if (others.length === 0) return only;
  const ids = waiting.map((row) => `${row.question?.id} (${row.step})`).join(", ");
  throw refused(
    `${workflowId} waits for ${waiting.length} approvals: name one with --for: ${ids}. Nothing was recorded.`,
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
