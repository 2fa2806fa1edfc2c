import { Command } from "effect/cli";
import { setting } from "./flag-sets.ts";
import { json } from "./flags.ts";
import { described, runPayments } from "./run-command.ts";

const show = Command.make("show", { json }, (given) =>
  runPayments(given.json, (output, payments, work) => work.showLimits(output, payments)),
).pipe(
  described(
    "Show the limits of all accounts",
    `Show the limits of all accounts, and looser limits that wait for approval.`,
  ),
);

const set = Command.make("set", setting, (given) =>
  runPayments(given.json, (output, payments, work) => work.changeLimits(output, payments, given)),
).pipe(
  described(
    "Set the limits of an account",
    `Set the limits of an account. Each flag replaces all amounts of its kind; what
  is left out stays. Tighter limits apply at once. If one of them is looser, all
  wait until another person approves them (approve). Requires --reason.`,
    {
      "durable-payments limits set --max EUR=1000.00 --by ada --reason audit":
        "Pay at most EUR 1,000.00 at a time, and nothing in other currencies",
    },
  ),
);

/** `durable-payments limits`: shows and sets the limits of accounts. */
export const limits = Command.make("limits").pipe(
  Command.withShortDescription("Show or set the limits of accounts"),
  Command.withDescription("Show or set the limits of accounts"),
  Command.withSubcommands([show, set]),
);
