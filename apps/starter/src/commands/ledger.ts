import { Argument, Command, Flag } from "effect/cli";
import { EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import { by, json, reason } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const backup = Command.make(
  "backup",
  { file: Argument.String("FILE").pipe(Argument.withDescription("A new file")), json },
  ({ file, json }) =>
    runCommand(json, async (output) => {
      const { operating } = await import("../settings.ts");
      await operating(({ ledger }) => ledger.backup(file));
      output.answer({ file }, (shown) => `The ledger was copied to ${shown.file}.`);
      return EXIT_CODES.done;
    }),
).pipe(Command.withDescription("Copy the ledger to a new file, while it is in use"));

const prune = Command.make(
  "prune",
  {
    before: Flag.String("before").pipe(
      Flag.withMetavar("TIME"),
      Flag.withDescription("Only what was settled before, such as 2026-01-01 or 400d"),
    ),
    by,
    reason,
    json,
  },
  ({ before, json, ...given }) =>
    runCommand(json, async (output) => {
      const { operating } = await import("../settings.ts");
      const { actingOf } = await import("../input/acting.ts");
      const { readTime } = await import("../input/since.ts");
      const { actorOf } = await import("@durable-payments/operations/decide");
      const time = readTime("before", before);
      const actor = actorOf(actingOf(given), true);
      const pruned = await operating(({ ledger }) => ledger.prune(time.getTime(), actor));
      output.answer(
        pruned,
        ({ workflowIds, writes }) =>
          `Removed texts and logs of ${writes} writes of ${workflowIds} runs. Ids and what was made are kept.`,
      );
      return EXIT_CODES.done;
    }),
).pipe(
  Command.withDescription(
    `Remove texts, amounts and logs of what was settled before a time. Ids, states
  and what was made are kept for ever. It needs a --reason.

  ${EXIT_CODES_HELP}`,
  ),
);

/** `starter ledger`: what is done with the ledger as a whole. */
export const ledger = Command.make("ledger").pipe(
  Command.withShortDescription("Back up or prune the ledger"),
  Command.withDescription("Back up or prune the ledger"),
  Command.withSubcommands([backup, prune]),
);
