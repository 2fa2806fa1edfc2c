import { Argument, Command } from "effect/cli";
import * as Option from "effect/Option";
import { by, json, reason, text } from "./flags.ts";
import { described, runCommand } from "./run-command.ts";

const account = text("account", "NAME", "Account, by its name or hash; default: yours");

const show = Command.make("show", { json }, (given) =>
  runCommand(given.json, (output, work) => work.showLimits(output)),
).pipe(
  described(
    "Show the limits of all accounts",
    `Show the limits of all accounts, and looser limits that wait for approval.`,
  ),
);

const setting = {
  file: Argument.String("FILE").pipe(
    Argument.withDescription('JSON file: {"maxAmounts": {"EUR": "1000.00"}, …}'),
    Argument.optional,
    Argument.map(Option.getOrUndefined),
  ),
  max: text("max", "AMOUNTS", "Most of one payment: EUR=1000.00,USD=500.00, or none"),
  approveAbove: text("approve-above", "AMOUNTS", "Approval above: EUR=100.00, or none"),
  account,
  by,
  reason,
  json,
};

export type LimitFlags = Command.Command.Config.Infer<typeof setting>;

const set = Command.make("set", setting, (given) =>
  runCommand(given.json, (output, work) => work.changeLimits(output, given)),
).pipe(
  described(
    "Set the limits of an account",
    `Set the limits of an account. Each flag replaces all amounts of its kind; what
  is left out stays. Tighter limits apply at once. If one of them is looser, all
  wait until another person has approved them. Requires --reason.`,
    [
      {
        command: "starter limits set --max EUR=1000.00 --by ada --reason audit",
        description: "Pay at most EUR 1,000.00 at a time, and nothing in other currencies",
      },
    ],
  ),
);

const approving = {
  account,
  hash: text("hash", "HASH", "Hash of what you have read, as limits show prints it"),
  by,
  reason,
  json,
};

const approve = Command.make("approve", approving, (given) =>
  runCommand(given.json, (output, work) => work.approveLooser(output, given)),
).pipe(
  described(
    "Approve looser limits, as a second person",
    `Approve looser limits that another person has set. At a terminal, it shows the
  limits before and after it, and prompts. In a script, pass --hash.`,
  ),
);

/** `starter limits`: shows, sets and approves the limits of accounts. */
export const limits = Command.make("limits").pipe(
  Command.withShortDescription("Show, set or approve the limits of accounts"),
  Command.withDescription("Show, set or approve the limits of accounts"),
  Command.withSubcommands([show, set, approve]),
);
