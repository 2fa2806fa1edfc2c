import { Argument, Command, Flag } from "effect/cli";
import { by, json, on, reason, text, yes } from "./flags.ts";
import { described, runCommand } from "./run-command.ts";

const flags = {
  id: Argument.String("ID").pipe(
    Argument.withDescription("Workflow id of the run that asks"),
    Argument.optional,
  ),
  choose: Flag.Literals("choose", ["found", "resend", "end"]).pipe(
    Flag.withDescription(
      "found: it was carried out · resend: send it again · end: send nothing more",
    ),
    Flag.optional,
  ),
  question: text("for", "QUESTION", "Id of the question that you have read"),
  step: text("step", "STEP", "Which step asks, where several do"),
  found: text("found", "ID", "The service's id of what was made"),
  isAll: on("all", "Give one answer to all questions about an operation"),
  operation: text("operation", "NAME", "With --all: such as createBeneficiary"),
  by,
  reason,
  yes,
  json,
};

export type AnswerFlags = Command.Command.Config.Infer<typeof flags>;

/** `starter answer`: answers what a run asks about the outcome of a write. */
export const answer = Command.make("answer", flags, (given) =>
  runCommand(given.json, async (output) => {
    const { answerAlike, answerOne } = await import("../input/answering.ts");
    return given.isAll ? answerAlike(output, given) : answerOne(output, given);
  }),
).pipe(
  described(
    "Answer what a run asks",
    `Answer what a run asks about a payment whose outcome is unknown. At a
  terminal it shows the question, what each answer does to the money, and asks;
  in a script give --choose and --for.`,
    [
      { command: "starter answer invoice-17", description: "Read the question, and choose" },
      {
        command:
          "starter answer --all --operation createBeneficiary --choose resend --reason outage",
        description: "Answer what is alike at once",
      },
    ],
  ),
);
