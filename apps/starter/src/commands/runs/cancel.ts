import { Command, Flag } from "effect/cli";
import * as Option from "effect/Option";
import { EXIT_CODES } from "../../exit-codes.ts";
import { acting, expectedRunId, json, NO_REASON, runId } from "../flags.ts";
import { runCommand } from "../run-command.ts";

const flags = {
  id: runId,
  reason: Flag.String("reason").pipe(
    Flag.withMetavar("WHY"),
    Flag.withDescription("Why; it is kept"),
    Flag.withDefault(NO_REASON),
  ),
  by: acting,
  expectedRunId,
  json,
};

/** `starter runs cancel`: asks a run to end. */
export const cancel = Command.make("cancel", flags, ({ by, expectedRunId, id, json, reason }) =>
  runCommand(json, async (output) => {
    const { actingPerson } = await import("../input/acting-person.ts");
    const { withTemporal } = await import("../../settings.ts");
    const { cancelRun } = await import("@durable-payments/operations/ending");
    const { commandLine } = await import("../../output/command-line.ts");
    const { shownWithNext, withNext } = await import("../../output/next-operation.ts");
    const { wrap } = await import("../../output/text.ts");
    const person = actingPerson(by);
    const { runId, unanswered, undoes } = await withTemporal((temporal) =>
      cancelRun(temporal, id, {
        by: person,
        reason,
        expectedRunId: Option.getOrUndefined(expectedRunId),
      }),
    );
    const what = undoes ? "undoes what it has done" : "keeps what it has done";
    const shown = {
      workflowId: id,
      runId,
      status: "cancelling",
      undoes,
      ...(unanswered && { noProgress: withNext(unanswered) }),
    };
    output.answer(shown, ({ workflowId }) =>
      wrap(
        [
          `${workflowId} is asked to end. It ends when what it is sending, if anything, is answered, and ${what}.`,
          ...(unanswered === undefined
            ? []
            : [`It does not end before a worker takes it up. ${shownWithNext(unanswered)}`]),
          `Follow it: ${commandLine("watch", workflowId)}`,
        ].join("\n"),
      ),
    );
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("Ask a run to end, undoing what it was started to undo"),
  Command.withDescription(
    `Ask a run to end. It waits for the answer to what it is sending, if to
  anything, and undoes what it has done where it was started with
  "onFailure": "compensate" (the card is cancelled, the cardholder removed);
  payouts are never undone. A worker has to run. The command does not
  wait: \`starter watch\` shows the end.

  Exit codes: 0 asked, 2 bad input, or it has ended, 3 cannot connect.`,
  ),
  Command.withExamples([
    {
      command: 'starter runs cancel customer-4711 --reason "wrong customer"',
      description: "End an onboarding",
    },
  ]),
);
