import { Command, Flag } from "effect/cli";
import * as Option from "effect/Option";
import { badUsage, EXIT_CODES } from "../../exit-codes.ts";
import { acting, expectedRunId, json, runId } from "../flags.ts";
import { runCommand } from "../run-command.ts";

const flags = {
  id: runId,
  reason: Flag.String("reason").pipe(
    Flag.withMetavar("WHY"),
    Flag.withDescription("Why; it is kept"),
  ),
  by: acting,
  expectedRunId,
  json,
};

/** `starter runs terminate`: ends a run at once. */
export const terminate = Command.make(
  "terminate",
  flags,
  ({ by, expectedRunId, id, json, reason }) =>
    runCommand(json, async (output) => {
      if (reason.trim() === "")
        throw badUsage("--reason must not be empty: it is kept with the run.");
      const { actingPerson } = await import("../input/acting-person.ts");
      const { withTemporal } = await import("../../settings.ts");
      const { terminateRun } = await import("@durable-payments/operations/ending");
      const { commandLine } = await import("../../output/command-line.ts");
      const { argumentsOf } = await import("../../output/next-operation.ts");
      const { visible } = await import("../../output/visible.ts");
      const { wrap } = await import("../../output/text.ts");
      const person = actingPerson(by);
      const { inDoubt, retry, runId } = await withTemporal((temporal) =>
        terminateRun(temporal, id, {
          by: person,
          reason,
          expectedRunId: Option.getOrUndefined(expectedRunId),
        }),
      );
      output.answer({ workflowId: id, runId, status: "terminated", inDoubt }, (shown) =>
        [
          `${shown.workflowId} is terminated. Nothing was undone.`,
          ...shown.inDoubt.map(({ operation, step }) =>
            wrap(
              `! ${step}: ${operation} may have been carried out, and nothing reconciles it now.`,
            ),
          ),
          ...(shown.inDoubt.length > 0
            ? [
                ...(retry === undefined
                  ? []
                  : [`  Going on does: ${commandLine(...argumentsOf(visible(retry)))}`]),
                `  Until then, or until it is settled, it is listed by ${commandLine("attention")}`,
              ]
            : []),
          `Who did what: ${commandLine("audit", shown.workflowId)}`,
        ].join("\n"),
      );
      return EXIT_CODES.done;
    }),
).pipe(
  Command.withShortDescription("End a run at once, undoing nothing"),
  Command.withDescription(
    `End a run at once, without a worker: nothing is undone, and what it was
  sending may be carried out all the same; the answer names what is in doubt.
  Prefer \`starter runs cancel\`.

  Exit codes: 0 terminated, 2 bad input, or it has ended, 3 cannot connect.`,
  ),
  Command.withExamples([
    {
      command: 'starter runs terminate customer-4711 --reason "stuck"',
      description: "End a run that cannot end by itself",
    },
  ]),
);
