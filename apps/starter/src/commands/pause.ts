import { Argument, Command } from "effect/cli";
import { EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import { by, json } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const why = Argument.String("WHY").pipe(
  Argument.withDescription("Why; every run that waits shows it"),
);

/** `starter pause`: pauses every new send. */
export const pause = Command.make("pause", { why, by, json }, ({ by, json, why }) =>
  runCommand(json, async (output) => {
    const { withTemporal } = await import("../settings.ts");
    const { pauseSends, describePause } = await import("@durable-payments/operations/pause");
    const { pause, wasPaused } = await withTemporal((temporal) =>
      pauseSends(temporal, { by, why }),
    );
    output.answer(
      { status: "paused", wasPaused, ...pause },
      (shown) => `Sends ${wasPaused ? "were" : "are"} ${describePause(shown)}`,
    );
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("Pause every new send of every run"),
  Command.withDescription(
    `Pause every new send of every run on the task queue. Waits and reconciliations
  go on; what is paused is sent after \`starter resume\`. The pause
  survives restarts of workers and server.

  ${EXIT_CODES_HELP}`,
  ),
  Command.withExamples([
    {
      command: 'starter pause "the bank reports duplicates" --by Ada',
      description: "Stop sending",
    },
  ]),
);
