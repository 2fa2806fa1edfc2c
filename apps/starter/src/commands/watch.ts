import { Command } from "effect/cli";
import { EXIT_CODES_HELP } from "../exit-codes.ts";
import { json, runId } from "./flags.ts";
import { runCommand } from "./run-command.ts";

/** `starter watch`: follows a run until it ends. */
export const watch = Command.make("watch", { id: runId, json }, ({ id, json }) =>
  runCommand(json, async (output) => {
    const { withTemporal } = await import("../settings.ts");
    const { exitCodeOfRun } = await import("../exit-codes.ts");
    const { describeSubmitted, followRun } = await import("../output/follow-run.ts");
    const { describeRun, isOpen, stateOf } = await import("@durable-payments/operations/runs");
    return await withTemporal(async (temporal) => {
      const found = await stateOf(temporal, await describeRun(temporal, id));
      const run = isOpen(found) ? await followRun(temporal, found, output) : found;
      output.answer(run, (shown) => describeSubmitted(temporal, shown));
      return exitCodeOfRun(run);
    });
  }),
).pipe(
  Command.withShortDescription("Follow a run until it ends"),
  Command.withDescription(
    `Follow a run until it ends: each step as it comes, what it waits for, since
  when, and when it polls again. Ctrl-C ends the watching; the run goes on.

  ${EXIT_CODES_HELP}`,
  ),
);
