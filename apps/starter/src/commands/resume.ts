import { Command } from "effect/cli";
import { EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import { by, json } from "./flags.ts";
import { runCommand } from "./run-command.ts";

/** `starter resume`: ends a pause. */
export const resume = Command.make("resume", { by, json }, ({ by, json }) =>
  runCommand(json, async (output) => {
    const { withTemporal } = await import("../settings.ts");
    const { describePause, resumeSends } = await import("@durable-payments/operations/pause");
    const pause = await withTemporal((temporal) => resumeSends(temporal, by));
    output.answer(
      { pause },
      (shown) =>
        shown.pause === undefined
          ? "Sends were not paused."
          : `Sends go on. They were ${describePause(shown.pause)}`,
      () => ({ status: "resumed", wasPaused: pause !== undefined }),
    );
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("Let sends go on after a pause"),
  Command.withDescription(
    `Let the sends that were paused by \`starter pause\` go on.

  ${EXIT_CODES_HELP}`,
  ),
);
