import { Command } from "effect/cli";
import { EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import { json } from "./flags.ts";
import { runCommand } from "./run-command.ts";

/** `starter inbox`: what waits for a person. */
export const inbox = Command.make("inbox", { json }, (given) =>
  runCommand(given.json, async (output) => {
    const { reading } = await import("../settings.ts");
    const { readInbox } = await import("@durable-payments/operations/show");
    const { inboxText } = await import("../output/inbox-text.ts");
    output.answer(await reading(readInbox), (shown) => inboxText(shown));
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("What waits for a person"),
  Command.withDescription(
    `Show what waits for a person, the oldest first: questions about outcomes,
  approvals, and unknown outcomes of runs that have ended. It reads the ledger,
  and works without a worker, and without Temporal (then the last are missing).

  ${EXIT_CODES_HELP}`,
  ),
);
