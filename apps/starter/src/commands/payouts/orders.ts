import { Command } from "effect/cli";
import * as Option from "effect/Option";
import { EXIT_CODES } from "../../errors.ts";
import { by, json } from "../flags.ts";
import { EXIT_CODES_HELP } from "../help-texts.ts";
import { runCommand } from "../run-command.ts";
import { batch, why } from "./flags.ts";

interface OrderTexts {
  readonly status: string;
  readonly short: string;
  readonly long: string;
}

const orderCommand = (order: "pause" | "resume" | "cancel", { long, short, status }: OrderTexts) =>
  Command.make(order, { batch, by, why, json }, (given) =>
    runCommand(given.json, async (output) => {
      const { withTemporal } = await import("../../connection/temporal.ts");
      const { decide } = await import("../../runs/decide.ts");
      const { batch: workflowId, by } = given;
      const why = Option.getOrUndefined(given.why);
      const runId = await withTemporal((temporal) =>
        decide(temporal, workflowId, order, { by, ...(why !== undefined && { why }) }),
      );
      output.answer({ workflowId, runId, status }, () => `${workflowId} is ${status}.`);
      return EXIT_CODES.done;
    }),
  ).pipe(
    Command.withShortDescription(short),
    Command.withDescription(`${long}\n\n  ${EXIT_CODES_HELP}`),
  );

/** `starter payouts pause`: starts no more rows for now. */
export const pause = orderCommand("pause", {
  status: "paused",
  short: "Start no more rows for now",
  long: `Start no more rows of a bulk run until it is resumed. It takes hold within
  about five seconds; payouts that were started go on. To hold back every
  send at once, of all runs: starter pause.`,
});

/** `starter payouts resume`: goes on after a pause. */
export const resume = orderCommand("resume", {
  status: "resumed",
  short: "Go on with the rows after a pause",
  long: "Go on with the rows of a bulk run that was paused.",
});

/** `starter payouts cancel`: starts no more rows. */
export const cancel = orderCommand("cancel", {
  status: "cancelled",
  short: "Start no more rows",
  long: `Start no more rows of a bulk run. Payouts that were started go on to their
  end: money on its way is not called back. To pay the other rows after all,
  import the file once more.`,
});
