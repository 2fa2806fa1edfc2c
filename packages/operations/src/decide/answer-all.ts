import type { WriteRow } from "@durable-payments/ledger";
import type { Acting } from "../acting.ts";
import { isOperationError } from "../errors.ts";
import { answer, questionsOf } from "./answer.ts";
import type { Deciding } from "./record.ts";

/** Which questions are answered alike. `found` is not among the answers: each has an id of its own. */
export interface AnswerAll extends Acting {
  readonly choose: "resend" | "end";
  /** Only questions about this operation. */
  readonly operation: string;
}

/** What became of each question. */
export interface AnsweredAll {
  readonly answered: ReadonlyArray<WriteRow>;
  readonly refused: ReadonlyArray<{ readonly row: WriteRow; readonly message: string }>;
  /** Runs that could not be nudged: the tracker notifies them. */
  readonly unanswered: number;
}

/** Returns the open questions about an operation, those that wait longest first. */
export const findAlike = async (
  { ledger }: Pick<Deciding, "ledger">,
  operation: string,
): Promise<ReadonlyArray<WriteRow>> =>
  questionsOf(await ledger.rows({ operation, needsPerson: true }));

/**
 * Gives the same answer to all open questions about an operation that a person has seen.
 *
 * @param seen what `findAlike` returned: a question that has come up since is not answered.
 */
export const answerAll = async (
  deciding: Deciding,
  seen: ReadonlyArray<WriteRow>,
  { by, choose, how, reason }: AnswerAll,
): Promise<AnsweredAll> => {
  const answered: Array<WriteRow> = [];
  const refused: Array<{ readonly row: WriteRow; readonly message: string }> = [];
  let unanswered = 0;
  for (const row of seen) {
    try {
      const question = row.question?.id ?? "";
      const { nudged } = await answer(deciding, row.workflowId, {
        by,
        how,
        reason,
        choose,
        question,
      });
      if (nudged.is === "unanswered") unanswered += 1;
      answered.push(row);
    } catch (error) {
      if (!isOperationError(error)) throw error;
      refused.push({ row, message: error.message });
    }
  }
  return { answered, refused, unanswered };
};
