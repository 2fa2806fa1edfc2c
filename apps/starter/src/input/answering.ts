import type { Payments } from "@durable-payments/control/payments";
import { checkAnswer } from "@durable-payments/control/decide";
import { refused } from "@durable-payments/control/errors";
import type { AnswerFlags } from "../commands/flag-sets.ts";
import { badUsage } from "../exit-codes.ts";
import { confirm, confirmSeen } from "../output/ask.ts";
import { decidedText } from "../output/next.ts";

import { commandLines } from "../output/run-text.ts";
import { counted, wrap } from "../output/text.ts";
import { type Act, actingOf } from "./given.ts";

/** Finds the one open question, or the one that is named. */
const asked = async (payments: Payments, workflowId: string, question: string | undefined) => {
  const items = await payments.decisionsOn(workflowId);
  const open = items.filter(({ kind }) => kind === "question");
  const [item, other] = open.filter((one) => question === undefined || one.question === question);
  if (item === undefined)
    throw refused(
      `${workflowId} has no open question${question === undefined ? "" : ` ${question}`}. Nothing was recorded.`,
      workflowId,
    );
  if (other === undefined) return item;
  throw badUsage(
    `${workflowId} has ${open.length} open questions: choose one with --for. Nothing was done.`,
    open.flatMap(commandLines),
  );
};

/** Answers one question: the one that is named, or the one that is shown at the terminal. */
export const answerOne: Act<AnswerFlags> = async (output, payments, flags) => {
  const { choose, found, id, question } = flags;
  if (id === undefined) throw badUsage("Which run? Give its ID, or --all with --operation.");
  const acting = actingOf(flags);
  if (choose !== undefined) checkAnswer({ ...acting, choose, question: question ?? "", found });
  const isNamed = choose !== undefined && question !== undefined;
  const item = isNamed ? undefined : await asked(payments, id, question);
  if (choose === undefined)
    throw badUsage(
      "Choose an answer: --choose found, resend or end. Nothing was done.",
      item && commandLines(item),
    );
  if (item !== undefined) await confirmSeen(output, item, "--for QUESTION");
  const answered = { ...acting, choose, question: question ?? item?.question ?? "", found };
  const { by, step } = await payments.answer(id, answered);
  const of = step ?? item?.step ?? null;
  output.answer({ workflowId: id, step: of, choice: choose, by }, (shown) =>
    decidedText(
      `Answer recorded for ${shown.workflowId}${shown.step === null ? "" : ` (${shown.step})`}: ${shown.choice}.`,
      shown,
      choose !== "end",
    ),
  );
};

/** Gives the same answer to all open questions about an operation. */
export const answerAlike: Act<AnswerFlags> = async (output, payments, flags) => {
  const { choose, id, operation } = flags;
  if (id !== undefined || operation === undefined || choose === undefined)
    throw badUsage("--all needs --operation and --choose, and no ID.");
  if (choose === "found")
    throw badUsage(
      "Each write has its own id, so --all does not accept found. Answer the questions one by one.",
    );
  const acting = actingOf(flags, true);
  const { items } = await payments.inbox();
  const seen = items.filter((one) => one.kind === "question" && one.operation === operation);
  const [first] = seen;
  if (first !== undefined && !flags.yes) {
    output.say(
      `${counted(seen.length, "question")} about ${operation}, such as the one of ${first.workflowId}:`,
    );
    output.say(wrap(first.choices[choose] ?? "", "  "));
    await confirm("Record it for all?", "Nothing was recorded.");
  }
  output.answer(await payments.answerAll(seen, { ...acting, choose }), (shown) =>
    [
      `${counted(shown.answered.length, "question")} about ${operation} answered: ${choose}.`,
      ...shown.refused.map(({ message, workflowId }) => `  ${workflowId}: ${message}`),
    ].join("\n"),
  );
};
