import { Command } from "effect/cli";
import { EXIT_CODES_HELP } from "../../exit-codes.ts";
import { test } from "./test.ts";

/** `starter notify`: notifications by webhook. */
export const notify = Command.make("notify").pipe(
  Command.withShortDescription("Test the notifications of runs that ask, fail or are overdue"),
  Command.withDescription(
    `Test the webhook by which workers tell of runs that ask, fail or are overdue.

  ${EXIT_CODES_HELP}`,
  ),
  Command.withSubcommands([test]),
);
