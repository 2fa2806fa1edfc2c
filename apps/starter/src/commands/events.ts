import { Command } from "effect/cli";
import { badUsage } from "../exit-codes.ts";
import { count, json, listed, on, text } from "./flags.ts";
import { command } from "./run-command.ts";

const account = text("account", "NAME", 'Account that pays, by name; the unnamed one is "default"');
const { csv: _, ...formats } = listed;

const read = {
  after: text("after", "EVENT", "Only events after this one, by its id"),
  follow: on("follow", "Wait for further events, until Ctrl-C"),
  limit: count("limit", "Show at most this many; default: all", 0),
  account,
  ...formats,
};

const redelivered = {
  from: text("from", "EVENT", "From this event on; default: from the first one"),
  to: text("to", "EVENT", "Up to this event, included; default: the last delivered one"),
  account,
  json,
};

const redeliver = command(
  "redeliver",
  redelivered,
  async (output, payments, given) => {
    const { account, from, to } = given;
    const endpoints = await payments.upkeep.redeliver({ account, from, to });
    output.answer({ endpoints }, () =>
      endpoints === 0
        ? "There is nothing to deliver again: no event of this account has been delivered to a webhook yet."
        : `The events will be delivered again soon, before new ones, to ${endpoints} webhook${endpoints === 1 ? "" : "s"}.`,
    );
  },
  "Deliver events to the webhook again",
  `Deliver earlier events to the webhook again, in order and with the same ids,
  before new ones. An earlier request that is still under way is not replaced:
  the events of both are delivered. It needs only the ledger.`,
  { "durable-payments events redeliver": "All events that the ledger still has" },
);

/** `durable-payments events`: the feed of an account. */
export const events = command(
  "events",
  read,
  async (output, payments, given, work) => {
    const { account, after, follow: isFollowed, json, limit } = given;
    if (isFollowed && limit > 0) throw badUsage("Give one of --follow and --limit.");
    const isLined = given.jsonl || (json && isFollowed);
    const feed = payments.events({ account, after, isFollowed });
    const all = [];
    let shown = 0;
    for await (const event of feed) {
      if (isLined) output.lines([event]);
      else if (json) all.push(event);
      else output.text(`${work.eventText(event)}\n`);
      shown += 1;
      if (shown === limit || output.isClosed()) break;
    }
    if (json && !isLined) output.answer({ events: all }, () => "");
  },
  "Read the events of an account, in order",
  `Read the events of an account in the order of its feed, oldest first: payments,
  onboardings, files, limits, and what needs a person. The id of an event is the
  cursor: --after continues after that event, and skips nothing. If the ledger
  was restored and lacks that event, the exit code is 6, and the error says where
  to continue. With --follow, --json prints JSON Lines. It needs only the ledger.`,
  {
    "durable-payments events --limit 20": "The first events",
    "durable-payments events --follow --jsonl": "All events, for a program",
  },
).pipe(Command.withSubcommands([redeliver]));
