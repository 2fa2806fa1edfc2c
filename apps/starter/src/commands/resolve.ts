import { answerMeanings } from "@durable-payments/protocol";
import { Command, Flag } from "effect/cli";
import * as Option from "effect/Option";
import { badUsage, EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import { by, expectedRunId, json, runId } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const flags = {
  id: runId,
  by,
  question: Flag.String("question").pipe(
    Flag.withMetavar("Q"),
    Flag.withDescription("The question you have read, from `starter attention`"),
    Flag.optional,
  ),
  found: Flag.KeyValuePair("found").pipe(
    Flag.withMetavar("NAME=ID"),
    Flag.withDescription(answerMeanings.found),
    Flag.optional,
  ),
  resend: Flag.Boolean("resend").pipe(
    Flag.withDescription(answerMeanings.resend),
    Flag.withDefault(false),
  ),
  amend: Flag.String("amend").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription(answerMeanings.amend),
    Flag.optional,
  ),
  abandon: Flag.String("abandon").pipe(
    Flag.withMetavar("WHY"),
    Flag.withDescription(answerMeanings.abandon),
    Flag.optional,
  ),
  expectedRunId,
  json,
};

/** Nobody answers what they have not read. */
const SAY_WHICH = "Say by --question which question you have read. Nothing was done.";

/** `starter resolve`: gives a run that waits for a person the person's decision. */
export const resolve = Command.make("resolve", flags, ({ by, id, json, question, ...given }) =>
  runCommand(json, async (output) => {
    const { readDecision } = await import("./input/decision.ts");
    const decision = await readDecision({
      found: Option.getOrUndefined(given.found),
      resend: given.resend,
      amend: Option.getOrUndefined(given.amend),
      abandon: Option.getOrUndefined(given.abandon),
    });
    const { readAssumptions, withTemporal } = await import("../settings.ts");
    const assumptions = await readAssumptions();
    const { readHumanTask, resolveRun } = await import("@durable-payments/operations/decisions");
    const { attentionLines } = await import("../output/progress-lines.ts");
    const { commandLine } = await import("../output/command-line.ts");
    const expected = Option.getOrUndefined(given.expectedRunId);
    const { visible } = await import("../output/visible.ts");
    const runId = await withTemporal(async (temporal) => {
      if (Option.isSome(question)) {
        return resolveRun(temporal, id, {
          by,
          question: question.value,
          decision,
          expectedRunId: expected,
          assumptions,
        });
      }
      const { runId, task } = await readHumanTask(temporal, id, expected);
      const asked = attentionLines(visible({ workflowId: id, runId }), visible(task));
      throw badUsage(`${SAY_WHICH} It asks now:`, asked);
    });
    output.answer(
      { workflowId: id, runId, status: "resolved" },
      ({ workflowId }) =>
        `The run ${workflowId} has taken the decision. See it: ${commandLine("status", workflowId)}`,
    );
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("Decide for a run that waits for a person"),
  Command.withDescription(
    `Decide for a run that waits for a person, by exactly one of --found (once
  for each id that is asked for), --resend, --amend and --abandon. What a run
  asks is shown by \`starter attention\`, with the name of the question: the
  decision is for that question, and a run that asks something else by now does
  not take it.

  ${EXIT_CODES_HELP}`,
  ),
  Command.withExamples([
    {
      command: "starter resolve inv-1 --question 1-9f3c07aa --by Ada --found payout_id=7d59",
      description: "It was carried out: this is it",
    },
    {
      command: "starter resolve inv-1 --question 1-9f3c07aa --by Ada --resend",
      description: "It was not: send it again",
    },
  ]),
);
