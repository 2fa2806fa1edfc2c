import { cancelBatchUpdate, pauseBatchUpdate, resumeBatchUpdate } from "@durable-payments/protocol";
import { Command } from "effect/cli";
import * as Option from "effect/Option";
import { EXIT_CODES, EXIT_CODES_HELP } from "../../exit-codes.ts";
import { batch, by, expectedRunId, json, why } from "../flags.ts";
import { runCommand } from "../run-command.ts";

const UPDATES = {
  pause: pauseBatchUpdate,
  resume: resumeBatchUpdate,
  cancel: cancelBatchUpdate,
};

interface CommandTexts {
  readonly status: string;
  readonly short: string;
  readonly long: string;
}

const batchCommand = (name: keyof typeof UPDATES, { long, short, status }: CommandTexts) =>
  Command.make(name, { batch, by, why, expectedRunId, json }, (given) =>
    runCommand(given.json, async (output) => {
      const { withTemporal } = await import("../../settings.ts");
      const { decide } = await import("@durable-payments/operations/decisions");
      const { batch: workflowId, by } = given;
      const why = Option.getOrUndefined(given.why);
      const runId = await withTemporal((temporal) =>
        decide(
          temporal,
          workflowId,
          UPDATES[name],
          { by, ...(why !== undefined && { why }) },
          Option.getOrUndefined(given.expectedRunId),
        ),
      );
      output.answer({ workflowId, runId, status }, (shown) => `${shown.workflowId} is ${status}.`);
      return EXIT_CODES.done;
    }),
  ).pipe(
    Command.withShortDescription(short),
    Command.withDescription(`${long}\n\n  ${EXIT_CODES_HELP}`),
  );

/** `starter payouts pause`: starts no more rows for now. */
export const pause = batchCommand("pause", {
  status: "paused",
  short: "Start no more rows for now",
  long: `Start no more rows of a batch until it is resumed. It takes hold within
  about five seconds; payouts that were started go on. To pause every
  send at once, of all runs: \`starter pause\`.`,
});

/** `starter payouts resume`: goes on after a pause. */
export const resume = batchCommand("resume", {
  status: "resumed",
  short: "Go on with the rows after a pause",
  long: "Go on with the rows of a batch that was paused.",
});

/** `starter payouts cancel`: starts no more rows. */
export const cancel = batchCommand("cancel", {
  status: "cancelled",
  short: "Start no more rows",
  long: `Start no more rows of a batch. It takes hold within about five seconds.
  Payouts that were started go on to their end: money on its way is not called
  back. To pay the other rows after all, import the file once more.`,
});
