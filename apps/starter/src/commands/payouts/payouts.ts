import { Command } from "effect/cli";
import { EXIT_CODES_HELP } from "../../exit-codes.ts";
import { importCommand } from "./import.ts";
import { cancel, pause, resume } from "./batch-commands.ts";
import { list } from "./list.ts";
import { status } from "./status.ts";

/** `starter payouts`: pays many at once. */
export const payouts = Command.make("payouts").pipe(
  Command.withShortDescription("Pay the rows of a file"),
  Command.withDescription(
    `Pay the rows of a CSV or JSON Lines file, and see how they stand.

  ${EXIT_CODES_HELP}`,
  ),
  Command.withSubcommands([importCommand, list, status, pause, resume, cancel]),
);
