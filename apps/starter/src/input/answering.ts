import type { WriteRow } from "@durable-payments/ledger";
import {
  answer,
  answerAll,
  type Choice,
  CHOICES,
  consequencesOf,
  findAlike,
  questionsOf,
} from "@durable-payments/operations/decide";
import type { Operations } from "@durable-payments/operations/connection";
import * as Option from "effect/Option";
import type { AnswerFlags } from "../commands/answer.ts";
import { badUsage, EXIT_CODES } from "../exit-codes.ts";
import { ask, canAsk, confirm } from "../output/ask.ts";
import { decidedText } from "../output/decided.ts";
import { type Output, visible } from "../output/output.ts";
import { counted, money, wrap } from "../output/text.ts";
import { operating } from "../settings.ts";
import { actingOf } from "./acting.ts";

/** The question, and what each answer does: the money first. */
const questionLines = (given: WriteRow): ReadonlyArray<string> => {
  const row = visible(given);
  const consequences = consequencesOf(row);
  const candidates = row.question?.candidates ?? [];
  return [
    [row.workflowId, row.step, money(row.request), `question ${row.question?.id}`]
      .filter((part) => part !== "")
      .join(", "),
    row.question?.reason ?? "",
    ...candidates.map(
      (candidate, at) =>
        `Possible match (${at + 1} of ${candidates.length}): ${JSON.stringify(candidate)}`,
    ),
    ...CHOICES.map((choice) => consequences[choice]),
  ];
};

const asked = async (
  { ledger }: Operations,
  workflowId: string,
  { question, step }: AnswerFlags,
): Promise<WriteRow> => {
  const open = questionsOf(await ledger.rowsOf(workflowId)).filter(
    (row) => Option.isNone(step) || row.step === step.value,
  );
  if (Option.isSome(question)) {
    const named = open.find((row) => row.question?.id === question.value);
    if (named !== undefined) return named;
  }
  const [row, ...others] = open;
  if (row === undefined) throw badUsage(`${workflowId} asks nothing now. Nothing was done.`);
  if (Option.isSome(question))
    throw badUsage(
      `The question ${question.value} is not open. Nothing was done. It asks now:`,
      questionLines(row),
    );
  if (others.length === 0) return row;
  throw badUsage(
    `${workflowId} asks ${open.length} questions: choose one by --for. Nothing was done.`,
    open.flatMap(questionLines),
  );
};

const orAsk = async (given: string | undefined, question: string): Promise<string> => {
  const text = given ?? (await ask(question));
  if (text === undefined || text === "") throw badUsage("Nothing was recorded.");
  return text;
};

const choiceOf = (text: string): Choice => {
  const choice = CHOICES.find((one) => text !== "" && one.startsWith(text.toLowerCase()));
  if (choice === undefined)
    throw badUsage(`Choose one of: ${CHOICES.join(", ")}. Nothing was recorded.`);
  return choice;
};

/** Answers one question: by flags, or at the terminal. */
export const answerOne = async (output: Output, flags: AnswerFlags): Promise<number> => {
  const { choose, found, id, question } = flags;
  if (Option.isNone(id)) throw badUsage("Which run? Give its ID, or --all with --operation.");
  return operating(async (operations) => {
    const row = await asked(operations, id.value, flags);
    const isComplete = Option.isSome(choose) && Option.isSome(question);
    if (!isComplete) {
      const lines = questionLines(row);
      if (!canAsk())
        throw badUsage(
          "Say which question you have read, and your answer: --for QUESTION --choose ANSWER. Nothing was done.",
          lines,
        );
      for (const line of lines) output.say(wrap(line, "  "));
    }
    const choice = Option.isSome(choose)
      ? choose.value
      : choiceOf(await orAsk(undefined, "[f]ound / [r]esend / [e]nd?"));
    const acting = actingOf(flags);
    const made =
      choice === "found" && !isComplete
        ? await orAsk(Option.getOrUndefined(found), "The service's id of what was made?")
        : Option.getOrUndefined(found);
    const reason =
      choice === "found" || isComplete
        ? acting.reason
        : await orAsk(acting.reason, "Reason (recorded)?");
    if (!isComplete && choice !== "found" && !flags.yes) {
      output.say(wrap(consequencesOf(row)[choice]));
      await confirm("Record it?", "Nothing was recorded.");
    }
    const { decision, nudged } = await answer(operations, row.workflowId, {
      ...acting,
      reason,
      choose: choice,
      question: row.question?.id ?? "",
      found: made,
    });
    output.answer(
      { workflowId: row.workflowId, step: row.step, choice, by: decision.by, nudged },
      (shown) =>
        decidedText(
          `Answer recorded for ${shown.workflowId} (${shown.step}): ${shown.choice}.`,
          shown.workflowId,
          shown.nudged,
        ),
    );
    return EXIT_CODES.done;
  });
};

/** Gives the same answer to all open questions about an operation. */
export const answerAlike = async (output: Output, flags: AnswerFlags): Promise<number> => {
  const { choose, id, operation } = flags;
  if (Option.isSome(id) || Option.isNone(operation) || Option.isNone(choose))
    throw badUsage("--all needs --operation and --choose, and no ID.");
  if (choose.value === "found")
    throw badUsage("Each found id is another one: answer those one by one.");
  const answerOfAll = choose.value;
  return operating(async (operations) => {
    const seen = await findAlike(operations, operation.value);
    const [first] = seen;
    if (first === undefined) {
      output.answer(
        { answered: [], refused: [], unanswered: 0 },
        () => `No question about ${operation.value} is open.`,
      );
      return EXIT_CODES.done;
    }
    if (!flags.yes) {
      output.say(
        `${counted(seen.length, "question")} about ${operation.value}, such as that of ${first.workflowId}:`,
      );
      output.say(wrap(consequencesOf(first)[answerOfAll], "  "));
      await confirm("Record it for all?", "Nothing was recorded.");
    }
    const done = await answerAll(operations, seen, {
      ...actingOf(flags),
      choose: answerOfAll,
      operation: operation.value,
    });
    output.answer(
      {
        answered: done.answered.map(({ workflowId }) => workflowId),
        refused: done.refused.map(({ message, row }) => ({ workflowId: row.workflowId, message })),
        unanswered: done.unanswered,
      },
      (shown) =>
        [
          `${counted(shown.answered.length, "question")} answered: ${answerOfAll}.`,
          ...shown.refused.map(({ message, workflowId }) => `  ${workflowId}: ${message}`),
          ...(shown.unanswered > 0
            ? [`Temporal did not answer for ${shown.unanswered}: the tracker notifies those runs.`]
            : []),
        ].join("\n"),
    );
    return EXIT_CODES.done;
  });
};
