import { Command } from "effect/cli";
import * as Option from "effect/Option";
import { EXIT_CODES_HELP } from "../../exit-codes.ts";
import { batch, json, result, wait } from "../flags.ts";
import { runCommand } from "../run-command.ts";

/** `starter payouts status`: shows how a batch stands. */
export const status = Command.make("status", { batch, wait, result, json }, (given) =>
  runCommand(given.json, async (output) => {
    const { reportOn } = await import("./report-on.ts");
    const { checkResultFile } = await import("@durable-payments/operations/batch");
    const { withTemporal } = await import("../../settings.ts");
    const result = Option.getOrUndefined(given.result);
    checkResultFile(result);
    return await withTemporal((temporal) =>
      reportOn(temporal, given.batch, output, { wait: given.wait, result }),
    );
  }),
).pipe(
  Command.withShortDescription("Show how a batch stands"),
  Command.withDescription(
    `Show how a batch stands: how many of its payouts are done, failed, asking,
  waiting. With --result, write what became of each row so far.

  ${EXIT_CODES_HELP}`,
  ),
);
