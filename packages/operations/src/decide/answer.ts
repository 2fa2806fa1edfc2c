import type { DecisionLook, JsonObject, NewDecision, WriteRow } from "@durable-payments/ledger";
import { type Acting, actorOf } from "../acting.ts";
import { invalidInput, NotFound, Refused } from "../errors.ts";
import { type Choice, CHOICES } from "./consequences.ts";
import { type Decided, type Deciding, record } from "./record.ts";

/** What a person answers. */
export interface Answer extends Acting {
  readonly choose: Choice;
  /** Id of the question that was read: another one is not answered by it. */
  readonly question: string;
  /** For `found`: the service's id of what was made. */
  readonly found?: string | undefined;
}

/** Returns the writes whose outcome a person is asked for. */
export const questionsOf = (rows: ReadonlyArray<WriteRow>): ReadonlyArray<WriteRow> =>
  rows.filter(({ question, state }) => state === "asking" && question?.kind === "outcome");

/**
 * Finds the write whose question an answer names.
 *
 * @throws Refused where it is answered or replaced by another one.
 */
export const askedRow = (
  { rows }: Pick<DecisionLook, "rows">,
  workflowId: string,
  question: string,
  kind: "outcome" | "approval",
): WriteRow => {
  const open = rows.filter((row) => row.question?.kind === kind && row.state !== "ended");
  const row = open.find((one) => one.question?.id === question);
  if (row !== undefined) return row;
  const [now] = open;
  throw new Refused({
    message: !now?.question
      ? `${workflowId} asks nothing now: it was answered, or the outcome is known. Nothing was recorded.`
      : `The question ${question} is not open. ${workflowId} asks now (${now.question.id}, ${now.step}): ${now.question.reason} Nothing was recorded.`,
    next: { operation: "show", workflowId },
  });
};

/** First answer wins: a question that has one, not yet used, takes no other. */
const checkUnanswered = ({ decisions }: DecisionLook, row: WriteRow): void => {
  const first = decisions.find(
    ({ question, kind, sequence }) =>
      question === row.question?.id &&
      (kind === "found" || kind === "resend") &&
      sequence > row.decisionsAfter,
  );
  if (first === undefined) return;
  throw new Refused({
    message: `${first.by} has answered this question already (${first.kind}). Only an end goes before it. Nothing was recorded.`,
    next: { operation: "show", workflowId: row.workflowId },
  });
};

const valueOf = ({ choose, found }: Answer): JsonObject => {
  if (choose !== "found") {
    if (found !== undefined)
      throw invalidInput("An id (--found) belongs to --choose found only. Nothing was done.");
    return {};
  }
  if (found === undefined || found.trim() === "") {
    throw invalidInput(
      "--choose found needs the id of what was made: --found ID. Nothing was done.",
    );
  }
  return { id: found.trim() };
};

/**
 * Answers the question of a run about the outcome of a write.
 *
 * @param deciding ledger and Temporal.
 * @param workflowId the root workflow id, under which the ledger keeps the write.
 * @param answer the answer, and the question that it is for.
 * @returns the decision as recorded; the run uses it at its next look, and checks it then.
 * @throws InvalidInput, Refused where the question is not open, NotFound where the ledger does not know the id.
 */
export const answer = async (
  deciding: Deciding,
  workflowId: string,
  given: Answer,
): Promise<Decided> => {
  const { choose, question } = given;
  if (!CHOICES.includes(choose))
    throw invalidInput(`The answer must be one of: ${CHOICES.join(", ")}. Nothing was done.`);
  const actor = actorOf(given, choose !== "found");
  const value = valueOf(given);
  const rows = await deciding.ledger.rowsOf(workflowId);
  const [first] = rows;
  if (first === undefined) {
    throw new NotFound({
      message: `The ledger has no write of ${workflowId}. Nothing was recorded.`,
    });
  }
  const row = askedRow({ rows }, workflowId, question, "outcome");
  const decision: NewDecision = {
    account: row.account,
    workflowId,
    // An end belongs to the workflow id as a whole.
    step: choose === "end" ? null : row.step,
    kind: choose,
    question,
    ...actor,
    value,
  };
  return record(deciding, decision, (look) => {
    const asked = askedRow(look, workflowId, question, "outcome");
    if (choose === "end") return look.rows;
    checkUnanswered(look, asked);
    return [asked];
  });
};
