import { Command } from "effect/cli";
import { EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import { json } from "./flags.ts";
import { runCommand } from "./run-command.ts";

/** `starter attention`: lists the runs that wait for a person. */
export const attention = Command.make("attention", { json }, (flags) =>
  runCommand(flags.json, async (output) => {
    const { withRecords, withTemporal } = await import("../settings.ts");
    const { listRunsInDoubt, listWaitingRuns } =
      await import("@durable-payments/operations/decisions");
    const { inDoubtAnswer, inDoubtText, waitingRunAnswer, waitingRunsText } =
      await import("../output/human-task-text.ts");
    const found = await withTemporal(async (temporal) => ({
      runs: await listWaitingRuns(temporal),
      inDoubt: await withRecords(await listRunsInDoubt(temporal)),
    }));
    output.answer(
      found,
      ({ inDoubt, runs }) =>
        inDoubt.length === 0
          ? waitingRunsText(runs)
          : [...(runs.length === 0 ? [] : [waitingRunsText(runs)]), inDoubtText(inDoubt)].join(
              "\n\n",
            ),
      ({ inDoubt, runs }) => ({
        runs: runs.map(waitingRunAnswer),
        inDoubt: inDoubt.map(inDoubtAnswer),
      }),
    );
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("List the runs that wait for a person"),
  Command.withDescription(
    `List the runs that wait for a person: what happened, what was sent, what was
  found, and the commands by which to decide; and the runs that ended in doubt,
  until they are settled or go on.

  ${EXIT_CODES_HELP}`,
  ),
);
