import { Argument, Command, Flag } from "effect/cli";
import * as Option from "effect/Option";
import { badUsage, EXIT_CODES_HELP } from "../../exit-codes.ts";
import { json, result, startedBy, wait } from "../flags.ts";
import { runCommand } from "../run-command.ts";

const flags = {
  file: Argument.String("FILE").pipe(
    Argument.withDescription("The payouts: a .csv or a .jsonl file"),
  ),
  dryRun: Flag.Boolean("dry-run").pipe(
    Flag.withDescription("Check and compare; start nothing"),
    Flag.withDefault(false),
  ),
  approveAbove: Flag.String("approve-above").pipe(
    Flag.withMetavar("AMOUNT"),
    Flag.withDescription("A larger total waits for a second person"),
    Flag.optional,
  ),
  overrule: Flag.String("overrule").pipe(
    Flag.withMetavar("WHY"),
    Flag.withDescription("Pay what a person has rejected; needs --by"),
    Flag.optional,
  ),
  window: Flag.Int("window").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("Most payouts sent at a time, default 100"),
    Flag.optional,
  ),
  by: startedBy,
  wait,
  result,
  json,
};

const LARGEST_WINDOW = 1_000;

/** `starter payouts import`: pays the rows of a file. */
export const importCommand = Command.make("import", flags, (given) =>
  runCommand(given.json, async (output) => {
    const { importFile } = await import("./import-file.ts");
    const { isAmount } = await import("@durable-payments/operations/input");
    const { actingPerson } = await import("../input/acting-person.ts");
    const approveAbove = Option.getOrUndefined(given.approveAbove);
    const window = Option.getOrUndefined(given.window);
    if (approveAbove !== undefined && !isAmount(approveAbove)) {
      throw badUsage('--approve-above must be a decimal amount, such as "10000.00".');
    }
    if (window !== undefined && (window < 1 || window > LARGEST_WINDOW)) {
      throw badUsage(`--window must be from 1 to ${LARGEST_WINDOW}.`);
    }
    const overrule = Option.getOrUndefined(given.overrule);
    if (overrule !== undefined && (Option.isNone(given.by) || overrule.trim() === "")) {
      throw badUsage("--overrule needs --by and a reason: both are kept, with what is overruled.");
    }
    return await importFile(output, {
      file: given.file,
      dryRun: given.dryRun,
      wait: given.wait,
      result: Option.getOrUndefined(given.result),
      startedBy: actingPerson(given.by),
      approveAbove,
      overrule,
      window,
    });
  }),
).pipe(
  Command.withShortDescription("Pay the rows of a file, each exactly once"),
  Command.withDescription(
    `Pay the rows of a file, each exactly once. Every row is checked before
  anything is sent; each fault is named by row, column and rule.

  A CSV file has a header: key, beneficiary_id or beneficiary.FIELD, the fields
  of the payout by their own names, account, options.NAME. A .jsonl file has on
  each line what a payout file has, and a "key". All rows have the same account.

  The key is the row's own, and of one payment for good: a row whose key was
  used with the same payment is known and not paid again, whatever file it
  stands in; with another payment it is a fault.

  What a person has rejected stays rejected, in whatever file its rows come
  again: --overrule pays it after all, once a second person has approved it.

  ${EXIT_CODES_HELP}`,
  ),
  Command.withExamples([
    {
      command: "starter payouts import payouts.csv --dry-run",
      description: "Check, and compare totals with balances",
    },
    {
      command: "starter payouts import payouts.csv --wait --result paid.csv",
      description: "Pay, await the end, write what became of each row",
    },
  ]),
);
