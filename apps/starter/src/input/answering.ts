import type { WriteRow } from "@durable-payments/ledger";
import {
  type Acting,
  answer,
  type Answer,
  answerAll,
  checkAnswer,
  type Choice,
  CHOICES,
  consequencesOf,
  findAlike,
  questionsOf,
} from "@durable-payments/operations/decide";
import type { AnswerFlags } from "../commands/decide.ts";
import { badUsage } from "../exit-codes.ts";
import { ask, canAsk, confirm } from "../output/ask.ts";
import { decidedText, unansweredLines } from "../output/next.ts";
import { type Output, visible } from "../output/output.ts";
import { counted, joined, money, wrap } from "../output/text.ts";
import { operating } from "../settings.ts";
import { actingOf } from "./acting.ts";

/** The question, and what each answer does: the money first. */
const questionLines = (given: WriteRow): ReadonlyArray<string> => {
  const row = visible(given);
  const consequences = consequencesOf(row);
  const candidates = row.question?.candidates ?? [];
  return [
    joined([row.workflowId, row.step, money(row.request), `question ${row.question?.id}`], ", "),
    row.question?.reason ?? "",
    ...candidates.map(
      (candidate, at) =>
        `Possible match (${at + 1} of ${candidates.length}): ${JSON.stringify(candidate)}`,
    ),
    ...CHOICES.map((choice) => consequences[choice]),
  ];
};

/** Finds the one open question, or the one that is named. */
const asked = (
  rows: ReadonlyArray<WriteRow>,
  workflowId: string,
  question: string | undefined,
): WriteRow => {
  const open = questionsOf(rows);
  const row = open.find((one) =>
    question === undefined ? open.length === 1 : one.question?.id === question,
  );
  if (row !== undefined) return row;
  if (open.length === 0) throw badUsage(`${workflowId} asks nothing now. Nothing was done.`);
  const which =
    question === undefined
      ? `${workflowId} asks ${open.length} questions: choose one by --for.`
      : `The question ${question} is not open. These are:`;
  throw badUsage(`${which} Nothing was done.`, open.flatMap(questionLines));
};

const askLine = async (question: string): Promise<string> => {
  const text = await ask(question);
  if (text === undefined || text === "") throw badUsage("Nothing was recorded.");
  return text;
};

const askChoice = async (): Promise<Choice> => {
  const text = await askLine("[f]ound / [r]esend / [e]nd?");
  const choice = CHOICES.find((one) => one.startsWith(text.toLowerCase()));
  if (choice !== undefined) return choice;
  throw badUsage(`Choose one of: ${CHOICES.join(", ")}. Nothing was recorded.`);
};

/** Shows a question at the terminal, and asks for what the flags do not say. */
const askAnswer = async (
  output: Output,
  row: WriteRow,
  flags: AnswerFlags,
  acting: Acting,
): Promise<Answer> => {
  const lines = questionLines(row);
  if (!canAsk())
    throw badUsage(
      "Say which question you have read, and your answer: --for QUESTION --choose ANSWER. Nothing was done.",
      lines,
    );
  for (const line of lines) output.say(wrap(line, "  "));
  const choose = flags.choose ?? (await askChoice());
  const answered = { ...acting, choose, question: row.question?.id ?? "" };
  if (choose === "found") {
    const found = flags.found ?? (await askLine("The service's id of what was made?"));
    return { ...answered, found };
  }
  const reason = acting.reason ?? (await askLine("Reason (recorded)?"));
  if (!flags.yes) {
    output.say(wrap(consequencesOf(row)[choose]));
    await confirm("Record it?", "Nothing was recorded.");
  }
  return { ...answered, reason };
};

/** Answers one question: by flags, or at the terminal. */
export const answerOne = async (output: Output, flags: AnswerFlags): Promise<void> => {
  const { choose, found, id, question } = flags;
  if (id === undefined) throw badUsage("Which run? Give its ID, or --all with --operation.");
  const acting = actingOf(flags);
  const given: Answer | undefined =
    choose === undefined || question === undefined
      ? undefined
      : { ...acting, choose, question, found };
  if (given !== undefined) checkAnswer(given);
  await operating(async (operations) => {
    const row = asked(await operations.ledger.rowsOf(id), id, question);
    const answered = given ?? (await askAnswer(output, row, flags, acting));
    const { decision, nudged } = await answer(operations, id, answered);
    output.answer(
      { workflowId: id, step: row.step, choice: answered.choose, by: decision.by, nudged },
      (shown) =>
        decidedText(
          `Answer recorded for ${shown.workflowId} (${shown.step}): ${shown.choice}.`,
          shown,
        ),
    );
  });
};

/** Gives the same answer to all open questions about an operation. */
export const answerAlike = async (output: Output, flags: AnswerFlags): Promise<void> => {
  const { choose, id, operation } = flags;
  if (id !== undefined || operation === undefined || choose === undefined)
    throw badUsage("--all needs --operation and --choose, and no ID.");
  if (choose === "found") throw badUsage("Each found id is another one: answer those one by one.");
  const acting = actingOf(flags, true);
  await operating(async (operations) => {
    const seen = await findAlike(operations, operation);
    const [first] = seen;
    if (first !== undefined && !flags.yes) {
      output.say(
        `${counted(seen.length, "question")} about ${operation}, such as that of ${first.workflowId}:`,
      );
      output.say(wrap(consequencesOf(first)[choose], "  "));
      await confirm("Record it for all?", "Nothing was recorded.");
    }
    const done = await answerAll(operations, seen, { ...acting, choose });
    output.answer(
      {
        answered: done.answered.map(({ workflowId }) => workflowId),
        refused: done.refused.map(({ message, row }) => ({ workflowId: row.workflowId, message })),
        unanswered: done.unanswered,
      },
      (shown) =>
        [
          `${counted(shown.answered.length, "question")} about ${operation} answered: ${choose}.`,
          ...shown.refused.map(({ message, workflowId }) => `  ${workflowId}: ${message}`),
          ...unansweredLines(shown.unanswered),
        ].join("\n"),
    );
  });
};
