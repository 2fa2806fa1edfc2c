import { Command } from "effect/cli";
import * as Option from "effect/Option";
import { EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import { by, json, reason, text, yes } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const flags = {
  since: text("since", "TIME", "When the restored copy was made, or 7d; default a week ago"),
  by,
  reason,
  yes,
  json,
};

/** `starter recover`: after a restore of Temporal's database or of the ledger. */
export const recover = Command.make("recover", flags, ({ json, since, yes, ...given }) =>
  runCommand(json, async (output) => {
    const { operating } = await import("../settings.ts");
    const { actingOf } = await import("../input/acting.ts");
    const { readTime } = await import("../input/since.ts");
    const { recoveryLines } = await import("../output/recovery-text.ts");
    const { recover: recoverLedger } = await import("@durable-payments/operations/recovery");
    const options = {
      ...actingOf(given),
      since: Option.isSome(since) ? readTime("since", since.value) : undefined,
      isDryRun: !yes,
    };
    const report = await operating((operations) => recoverLedger(operations, options));
    output.answer(report, (shown) => recoveryLines(shown).join("\n"));
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("After a restore of Temporal or the ledger"),
  Command.withDescription(
    `Recover after Temporal's database or the ledger was restored to an earlier
  copy. Without --yes it only says what it knows. With --yes it begins a new
  epoch: no earlier "not sent" is believed without a look at the service, ends
  and waits that only Temporal remembers are recorded again, and sends are
  allowed again.

  ${EXIT_CODES_HELP}`,
  ),
);
