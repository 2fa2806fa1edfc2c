import { Command } from "effect/cli";
import { json, runId } from "./flags.ts";
import { EXIT_CODES_HELP } from "./help-texts.ts";
import { runCommand } from "./run-command.ts";

/** `starter watch`: follows a run until it ends. */
export const watch = Command.make("watch", { id: runId, json }, ({ id, json }) =>
  runCommand(json, async (output) => {
    const { withTemporal } = await import("../connection/temporal.ts");
    const { awaitRun, describeSubmitted } = await import("../runs/await-run.ts");
    const { describeRun, exitCodeOf, isOpen, stateOf } = await import("../runs/run-state.ts");
    return await withTemporal(async (temporal) => {
      const found = await stateOf(temporal, await describeRun(temporal, id));
      const run = isOpen(found) ? await awaitRun(temporal, found, output) : found;
      output.answer(run, () => describeSubmitted(temporal, run));
      return exitCodeOf(run);
    });
  }),
).pipe(
  Command.withShortDescription("Follow a run until it ends"),
  Command.withDescription(
    `Follow a run until it ends: each step as it comes, what it waits for, since
  when, and when it looks again. Ctrl-C ends the watching; the run goes on.

  ${EXIT_CODES_HELP}`,
  ),
);
