import { Command, Flag } from "effect/cli";
import { by, json } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const flags = {
  since: Flag.String("since").pipe(
    Flag.withMetavar("SINCE"),
    Flag.withDescription("An age such as 2h, or a time: that of the backup, or before"),
  ),
  yes: Flag.Boolean("yes").pipe(
    Flag.withDescription("Let sends go on without asking, where all is clear"),
    Flag.withDefault(false),
  ),
  by,
  json,
};

/** `starter recover`: what was sent that Temporal does not know. */
export const recover = Command.make("recover", flags, ({ by, json, since, yes }) =>
  runCommand(json, async (output) => {
    const { readSince } = await import("./input/since.ts");
    const { recoverAndResume } = await import("./recover-and-resume.ts");
    return await recoverAndResume(output, { by, yes, since: readSince(since) });
  }),
).pipe(
  Command.withShortDescription("Find what was sent that Temporal does not know"),
  Command.withDescription(
    `After Temporal's database was put back to an earlier state: pauses sends,
  compares the journal of sends with the runs that Temporal knows, and asks the
  service what became of what Temporal has lost. Sends go on where all is clear
  and you say yes; else, and where somebody had paused them before, they stay
  paused until \`starter resume\`. It needs the worker's PAYMENTS_* settings, of
  all its accounts, and runs where their journals can be read.

  Exit codes: 0 sends go on, 1 they stay paused, 2 bad input, 3 cannot connect.`,
  ),
  Command.withExamples([
    {
      command: "starter recover --since 2026-11-21T09:00:00Z --by Ada",
      description: "After a restore of the state of nine o'clock",
    },
  ]),
);
