import { Argument, Command, Flag } from "effect/cli";
import * as Option from "effect/Option";
import { EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import { by, json, reason, text, yes } from "./flags.ts";
import { described, runAct, runCommand } from "./run-command.ts";

const since = text("since", "TIME", "When the restored copy was made, or 7d; default a week ago");

/** `starter recover`: after a restore of Temporal's database or of the ledger. */
export const recover = Command.make("recover", { since, by, reason, yes, json }, (given) =>
  runAct(given, async (operations, acting, output) => {
    const { readTime } = await import("../input/since.ts");
    const { recoveryLines } = await import("../output/recovery-text.ts");
    const { recover: recoverLedger } = await import("@durable-payments/operations/recovery");
    const report = await recoverLedger(operations, {
      ...acting,
      since: Option.getOrUndefined(Option.map(given.since, (time) => readTime("since", time))),
      isDryRun: !given.yes,
    });
    output.answer(report, (shown) => recoveryLines(shown).join("\n"));
  }),
).pipe(
  described(
    "After a restore of Temporal or the ledger",
    `Recover after Temporal's database or the ledger was restored to an earlier
  copy. Without --yes it only says what it knows. With --yes it begins a new
  epoch: no earlier "not sent" is believed without a look at the service, ends
  and waits that only Temporal remembers are recorded again, and sends are
  allowed again.`,
  ),
);

const file = Argument.String("FILE").pipe(Argument.withDescription("A new file"));

const backup = Command.make("backup", { file, json }, ({ file, json }) =>
  runCommand(json, async (output) => {
    const { operating } = await import("../settings.ts");
    await operating(({ ledger }) => ledger.backup(file));
    output.answer({ file }, (shown) => `The ledger was copied to ${shown.file}.`);
    return EXIT_CODES.done;
  }),
).pipe(Command.withDescription("Copy the ledger to a new file, while it is in use"));

const before = Flag.String("before").pipe(
  Flag.withMetavar("TIME"),
  Flag.withDescription("Only what was settled before, such as 2026-01-01 or 400d"),
);

const prune = Command.make("prune", { before, by, reason, json }, (given) =>
  runAct(given, async ({ ledger }, acting, output) => {
    const { readTime } = await import("../input/since.ts");
    const { actorOf } = await import("@durable-payments/operations/decide");
    const time = readTime("before", given.before).getTime();
    output.answer(
      await ledger.prune(time, actorOf(acting, true)),
      ({ workflowIds, writes }) =>
        `Removed texts and logs of ${writes} writes of ${workflowIds} runs. Ids and what was made are kept.`,
    );
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
