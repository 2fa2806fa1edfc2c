import { Argument, Command } from "effect/cli";
import { EXIT_CODES } from "../exit-codes.ts";
import { by, json } from "./flags.ts";
import { visible } from "../output/visible.ts";
import { runCommand } from "./run-command.ts";

const why = Argument.String("WHY").pipe(
  Argument.withDescription("Why; every run that waits shows it"),
);

/** `starter pause`: pauses every new send. */
export const pause = Command.make("pause", { why, by, json }, ({ by, json, why }) =>
  runCommand(json, async (output) => {
    const { withTemporal } = await import("../settings.ts");
    const { pauseSends, describePause } = await import("@durable-payments/operations/pause");
    const { wrap } = await import("../output/text.ts");
    const { pause, ...paused } = await withTemporal((temporal) =>
      pauseSends(temporal, { by, why }),
    );
    output.answer(
      { status: "paused", ...paused, ...pause },
      ({ namespace, noWorker, taskQueue, wasPaused, ...shown }) =>
        [
          `Sends ${wasPaused ? "were" : "are"} ${describePause(shown)}`,
          ...(wasPaused
            ? [
                wrap(
                  `That stays as it is: neither ${visible(by)} nor the reason given here is kept.`,
                ),
              ]
            : []),
          wrap(`They are those of the task queue "${taskQueue}" in namespace "${namespace}".`),
          ...(noWorker
            ? [
                wrap(
                  "! No worker polls that task queue: where the workers are to poll another one, or in another namespace, nothing is held back. See PAYMENTS_TASK_QUEUE and TEMPORAL_NAMESPACE.",
                ),
              ]
            : []),
        ].join("\n"),
    );
    return paused.noWorker ? EXIT_CODES.runFailed : EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("Pause every new send of every run"),
  Command.withDescription(
    `Pause every new send of every run on the task queue (PAYMENTS_TASK_QUEUE), of
  all its accounts; workers of another task queue go on. Waits and
  reconciliations go on; what is paused is sent after \`starter resume\`. The
  pause survives restarts of workers and server.

  Exit codes: 0 paused, 1 paused, but no worker polls the task queue: perhaps
  workers poll another one, 2 bad input, 3 cannot connect.`,
  ),
  Command.withExamples([
    {
      command: 'starter pause "the bank reports duplicates" --by Ada',
      description: "Stop sending",
    },
  ]),
);
