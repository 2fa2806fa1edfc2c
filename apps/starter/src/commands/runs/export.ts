import { Command, Flag } from "effect/cli";
import * as Option from "effect/Option";
import { EXIT_CODES, EXIT_CODES_HELP } from "../../exit-codes.ts";
import { json, runId, temporalRunId } from "../flags.ts";
import { runCommand } from "../run-command.ts";

const file = Flag.String("file").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription("Where to write it; the file must not exist"),
);

/** `starter runs export`: writes the history of a run to a file. */
export const exportRun = Command.make(
  "export",
  { id: runId, runId: temporalRunId, file, json },
  ({ file, id, json, runId }) =>
    runCommand(json, async (output) => {
      const { withTemporal } = await import("../../settings.ts");
      const { exportHistory } = await import("@durable-payments/operations/runs");
      const exported = await withTemporal((temporal) =>
        exportHistory(temporal, { workflowId: id, runId: Option.getOrUndefined(runId) }, file),
      );
      output.answer(
        exported,
        ({ events }) =>
          `${events} events written to ${file}. Only you can read it: histories hold account\nnumbers and names.`,
      );
      return EXIT_CODES.done;
    }),
).pipe(
  Command.withShortDescription("Write the history of a run to a file"),
  Command.withDescription(
    `Write the history of a run to a JSON file, as Temporal's command line and its
  Web UI do: both can show it, and runs replay can replay it. The file can be
  read by its owner alone, since histories hold account numbers and names.

  ${EXIT_CODES_HELP}`,
  ),
  Command.withExamples([
    {
      command: "starter runs export invoice-2026-001 --file run.json",
      description: "For runs replay, the Web UI, an editor",
    },
  ]),
);
