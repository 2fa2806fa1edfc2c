import {
  type Actor,
  answerTo,
  type DecisionLook,
  endAmong,
  type JsonObject,
  type NewDecision,
  type WriteRow,
} from "@durable-payments/ledger";
import type { Connected } from "../../facts/connection/connections.ts";
import { invalidInput, ControlError, refused } from "../../errors.ts";
import { noRun } from "../../facts/named.ts";
import { type Choice, CHOICES } from "../../rules/consequences.ts";
import { isAsking, isUnapproved } from "../../rules/standing.ts";
import { type Acting, actorOf, decisionOn, nameOfRead } from "./record.ts";

/** An answer of a person. */
export interface Answer extends Acting {
  readonly choose: Choice;
  /** Id of the question that was read: no other question is answered. */
  readonly question: string;
  /** For `found`: the service's id of the result. */
  readonly found?: string | undefined;
}

/** Reads the writes of an id. @throws NotFound if the ledger does not know it. */
export const writesOf = async (ledger: Connected["ledger"], workflowId: string) => {
  const rows = await ledger.rowsOf(workflowId);
  const isKnown = rows.length > 0 || (await ledger.runs({ workflowIds: [workflowId] })).length > 0;
  if (isKnown) return rows;
  throw await noRun(ledger, workflowId, {
    nothing: "Nothing was recorded.",
    why: `The ledger has no run or batch ${workflowId}.`,
  });
};

/** Finds the write of a question, or the only one that asks; refuses if it is answered, or replaced by another question. */
export const askedRow = (
  { rows }: Pick<DecisionLook, "rows">,
  workflowId: string,
  question: string | undefined,
  kind: "outcome" | "approval",
): WriteRow => {
  const open = rows.filter(kind === "outcome" ? isAsking : isUnapproved);
  const [row, other] = open.filter(
    (one) => question === undefined || one.question?.id === question,
  );
  // Ids are short: two children of a run may have the same.
  if (row !== undefined && other !== undefined)
    throw refused(
      `${workflowId} has several open questions. Choose one by its hash or question, or give the id of one: ${open.map((one) => `${one.question?.id} (${one.step} of ${one.workflowId})`).join(", ")}. Nothing was recorded.`,
    );
  if (row !== undefined) return row;
  const [now] = open;
  const by = rows.map((one) => one.question?.approvedBy).find((name) => name !== undefined);
  if (now === undefined && kind === "approval" && by !== undefined)
    throw refused(`${by} has approved it already. Nothing was recorded.`, workflowId);
  if (now === undefined)
    throw refused(
      `${workflowId} ${kind === "approval" ? "is not waiting for approval" : "has no open question"}. Nothing was recorded.`,
      workflowId,
    );
  throw refused(
    `The question ${question} is not open. The open question of ${workflowId} is ${now.question?.id} (${now.step}): ${now.question?.reason} Nothing was recorded.`,
    workflowId,
  );
};

/** The first answer wins: a question with an unused answer takes no other. */
const checkUnanswered = ({ decisions }: DecisionLook, row: WriteRow): void => {
  const first = answerTo(row, decisions);
  if (first === undefined) return;
  throw refused(
    `${first.by} has answered this question already (${first.kind}). Only the answer end can replace it. Nothing was recorded.`,
    row.workflowId,
  );
};

/** No run sends anything for an id that was stopped: an answer that nobody carries out would leave the question forever. */
const checkNotStopped = ({ decisions }: DecisionLook, { workflowId }: WriteRow): void => {
  if (endAmong(decisions) === undefined) return;
  throw refused(
    `${workflowId} was stopped, so nothing is sent again. Answer found if it was made, else end. Nothing was recorded.`,
    workflowId,
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
    throw invalidInput("An id (found) can be given only if the answer is found. Nothing was done.");
  if (choose === "found" && found.trim() === "")
    throw invalidInput("The answer found needs the id of the result (found). Nothing was done.");
  const actor = actorOf(given, choose !== "found");
  return { actor, value: choose === "found" ? { id: found.trim() } : {} };
};

/**
 * Answers the question of a run about the outcome of a write.
 *
 * @param workflowId of the write, of the run that asks for it, or of its root.
 * @returns the decision as recorded. The tracker notifies the run, which checks it then.
 * @throws InvalidInput, NotAllowed if the question is not open, or the answer is resend and the id was stopped; NotFound if the ledger does not know the id.
 */
export const answer = async (
  deciding: Pick<Connected, "ledger">,
  workflowId: string,
  given: Answer,
): Promise<NewDecision> => {
  const { actor, value } = checkAnswer(given);
  const { choose } = given;
  const question = nameOfRead("question", given.question);
  const rows = await writesOf(deciding.ledger, workflowId);
  const row = askedRow({ rows }, workflowId, question, "outcome");
  // An end belongs to the workflow id as a whole.
  const step = choose === "end" ? null : row.step;
  const decision = decisionOn(row, choose, actor, { step, question, value });
  await deciding.ledger.decide(decision, (look) => {
    const asked = askedRow(look, row.workflowId, question, "outcome");
    if (choose === "end") return look.rows;
    checkUnanswered(look, asked);
    if (choose === "resend") checkNotStopped(look, asked);
    return [asked];
  });
  return decision;
};

/**
 * Gives the same answer to questions that a person has seen.
 *
 * @param seen items of the inbox: later questions are not answered.
 * @param given without `found`, because each write has its own id.
 */
export const answerAll = async (
  deciding: Pick<Connected, "ledger">,
  seen: ReadonlyArray<Readonly<{ question: string | null; workflowId: string }>>,
  given: Acting & { readonly choose: "resend" | "end" },
) => {
  checkAnswer({ ...given, question: "" });
  const items: unknown = seen;
  if (!Array.isArray(items)) throw invalidInput("Give the items of the inbox. Nothing was done.");
  const answered: Array<string> = [];
  const notAnswered: Array<{ readonly workflowId: string; readonly message: string }> = [];
  for (const { question, workflowId } of seen) {
    try {
      const about = { ...given, question: question ?? "" };
      await answer(deciding, workflowId, about);
      answered.push(workflowId);
    } catch (error) {
      if (!(error instanceof ControlError)) throw error;
      notAnswered.push({ workflowId, message: error.message });
    }
  }
  return { answered, refused: notAnswered };
};
