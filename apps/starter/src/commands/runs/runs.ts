import { Command } from "effect/cli";
import { EXIT_CODES_HELP } from "../../exit-codes.ts";
import { cancel } from "./cancel.ts";
import { exportRun } from "./export.ts";
import { list } from "./list.ts";
import { replay } from "./replay.ts";
import { retry } from "./retry.ts";
import { show } from "./show.ts";
import { terminate } from "./terminate.ts";

/** `starter runs`: what finds, explains and repairs runs. */
export const runs = Command.make("runs").pipe(
  Command.withShortDescription("Find, explain and repair runs"),
  Command.withDescription(
    `Find, explain and repair runs.

  ${EXIT_CODES_HELP}`,
  ),
  Command.withSubcommands([list, show, retry, cancel, terminate, replay, exportRun]),
);
