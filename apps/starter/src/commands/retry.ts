import { Argument, Command, Flag } from "effect/cli";
import { by, ifRun, json, on, reason, text, yes } from "./flags.ts";
import { described, runCommand } from "./run-command.ts";

const flags = {
  id: Argument.String("ID").pipe(
    Argument.withDescription("Workflow id of the run; of a child its root is retried"),
    Argument.optional,
  ),
  amend: text(
    "amend",
    "FILE",
    "Change its input: a JSON file with the changed fields, null removes one",
  ),
  isRestarted: on("restart", "Start a workflow of your own from its begin, in place of a reset"),
  isOverruling: on("override", "Overrule a person's end, by name and with a reason"),
  isAll: on("all-failed", "Retry every run that failed and can be helped"),
  since: text("since", "TIME", "With --all-failed: closed since, such as 24h"),
  type: text("type", "TYPE", "With --all-failed: only this workflow type"),
  batch: text("batch", "ID", "With --all-failed: only rows of this batch"),
  rate: Flag.Int("rate").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("With --all-failed: runs a second; default 5"),
    Flag.withDefault(5),
  ),
  isDryRun: on("dry-run", "Show what would be done"),
  ifRun,
  by,
  reason,
  yes,
  json,
};

export type RetryFlags = Command.Command.Config.Infer<typeof flags>;

/** `starter retry`: has a failed run continue, or an open one look again. */
export const retry = Command.make("retry", flags, (given) =>
  runCommand(given.json, async (output) => {
    const { retryAll, retryOne } = await import("../input/retrying.ts");
    return given.isAll ? retryAll(output, given) : retryOne(output, given);
  }),
).pipe(
  described(
    "Retry a failed run, or all of them",
    `Retry a failed run: what is done is kept, the rest follows. An open run is
  asked to look again at once. A retry that cannot help is refused.`,
    [
      { command: "starter retry invoice-17 --dry-run", description: "See what would be done" },
      {
        command: "starter retry invoice-17 --amend fix.json --reason 'wrong amount'",
        description: "Retry it with another request",
      },
    ],
  ),
);
