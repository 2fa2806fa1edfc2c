import {
  type Acting,
  answer,
  type Answer,
  answerAll,
  checkAnswer,
  type Choice,
  CHOICES,
  consequencesOf,
  type Deciding,
  findAlike,
  type InboxItem,
  itemsOf,
} from "@durable-payments/control";
import type { AnswerFlags } from "../commands/decide.ts";
import { badUsage } from "../exit-codes.ts";
import { ask, canAsk, confirm } from "../output/ask.ts";
import { decidedText, unansweredLines } from "../output/next.ts";
import { type Output, visible } from "../output/output.ts";
import { askedText, questionLines } from "../output/run-text.ts";
import { counted, wrap } from "../output/text.ts";
import { deciding } from "../settings.ts";
import { actingOf } from "./given.ts";

/** Finds the one open question, or the one that is named. */
const asked = async (
  { ledger }: Deciding,
  workflowId: string,
  question: string | undefined,
): Promise<InboxItem> => {
  const rows = await ledger.rowsOf(workflowId);
  const open = (await itemsOf(ledger, rows)).filter(({ kind }) => kind === "question");
  const [item, other] = open.filter((one) => question === undefined || one.question === question);
  if (item !== undefined && other === undefined) return item;
  throw badUsage(
    `${workflowId} has ${counted(open.length, "open question")}: choose one with --for. Nothing was done.`,
    open.flatMap(questionLines),
  );
};

const askLine = async (question: string): Promise<string> => {
  const text = await ask(question);
  if (text === "") throw badUsage("Nothing was recorded.");
  return text;
};

const askChoice = async (): Promise<Choice> => {
  const text = await askLine("[f]ound / [r]esend / [e]nd?");
  const choice = CHOICES.find((one) => one.startsWith(text.toLowerCase()));
  if (choice !== undefined) return choice;
  throw badUsage(`Choose one of: ${CHOICES.join(", ")}. Nothing was recorded.`);
};

/** Shows a question at the terminal, and asks for the missing flags. */
const askAnswer = async (
  output: Output,
  item: InboxItem,
  flags: AnswerFlags,
  acting: Acting,
): Promise<Answer> => {
  if (!canAsk())
    throw badUsage(
      "Pass the question that you have read, and your answer: --for QUESTION --choose ANSWER. Nothing was done.",
      questionLines(item),
    );
  output.say(askedText(visible(item)));
  const choose = flags.choose ?? (await askChoice());
  const answered = { ...acting, choose, question: item.question ?? "" };
  if (choose === "found") {
    const found = flags.found ?? (await askLine("The service's id of the result?"));
    return { ...answered, found };
  }
  const reason = acting.reason ?? (await askLine("Reason (recorded)?"));
  if (!flags.yes) {
    output.say(wrap(item.choices[choose] ?? ""));
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
  await deciding(async (opened) => {
    const item = await asked(opened, id, question);
    const answered = given ?? (await askAnswer(output, item, flags, acting));
    const { decision, nudged } = await answer(opened, id, answered);
    output.answer(
      { workflowId: id, step: item.step, choice: answered.choose, by: decision.by, nudged },
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
  if (choose === "found")
    throw badUsage(
      "Each write has its own id, so --all does not accept found. Answer the questions one by one.",
    );
  const acting = actingOf(flags, true);
  await deciding(async (opened) => {
    const seen = await findAlike(opened, operation);
    const [first] = seen;
    if (first !== undefined && !flags.yes) {
      output.say(
        `${counted(seen.length, "question")} about ${operation}, such as the one of ${first.workflowId}:`,
      );
      output.say(wrap(consequencesOf(first)[choose], "  "));
      await confirm("Record it for all?", "Nothing was recorded.");
    }
    output.answer(await answerAll(opened, seen, { ...acting, choose }), (shown) =>
      [
        `${counted(shown.answered.length, "question")} about ${operation} answered: ${choose}.`,
        ...shown.refused.map(({ message, workflowId }) => `  ${workflowId}: ${message}`),
        ...unansweredLines(shown.unanswered),
      ].join("\n"),
    );
  });
};
