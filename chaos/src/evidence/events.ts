/**
 * Compares the feed of events with those who followed it, and with the books.
 *
 * A reader with a cursor and a webhook follow the feed of each account while everything breaks. At the end the whole feed
 * is read once more: both must have had each of its events, in its order, and the last event of each payout must say what
 * the service's books say.
 */
import type { FeedEvent } from "@durable-payments/ledger";
import { UnknownCursor } from "@durable-payments/ledger";
import type { Campaign } from "../campaign.ts";
import { delay, until } from "../delay.ts";
import type { Received } from "../service/event-receiver.ts";
import type { Find } from "./evidence.ts";
import type { MoneyState, Owed } from "./reports.ts";

const LOOK_EVERY_MS = 300;

/** The webhook has everything this long after the work is done, with a second more for each two events. */
const DELIVERED_WITHIN_MS = 90_000;
// The receiver refuses one in seven, and each refusal costs an interval of the notifier.
const EACH_WITHIN_MS = 500;

const MONEY: Readonly<Record<string, MoneyState>> = {
  made: "underWay",
  completed: "paid",
  failed: "failed",
  returned: "cameBack",
};

/** Follows the feed of an account until the work is done, and returns the ids as its reader has them. */
export const followFeed = async (
  { done, environment, tally, unexpected }: Campaign,
  account: string,
): Promise<ReadonlyArray<string>> => {
  let ids: ReadonlyArray<string> = [];
  const read = async (signal: AbortSignal): Promise<void> => {
    const after = ids.at(-1);
    const page = await environment.operate(async ({ ledger }) => {
      try {
        return await ledger.events(account, { after, limit: 50 });
      } catch (error) {
        if (error instanceof UnknownCursor) return error;
        throw error;
      }
    }, signal);
    if (!(page instanceof UnknownCursor)) ids = [...ids, ...(page ?? []).map(({ id }) => id)];
    else {
      tally.add("cursor refused after a restore");
      ids = page.readAfter === undefined ? [] : ids.slice(0, ids.indexOf(page.readAfter) + 1);
    }
    if (ids.length !== new Set(ids).size) unexpected.push(`An event came twice: ${account}`);
  };
  while (!done.signal.aborted) {
    await read(done.signal);
    await delay(LOOK_EVERY_MS, done.signal);
  }
  return ids;
};

/** Finds what a follower lacks, or has in another order. Others than those of the feed were lost with an older ledger. */
export const compareOrder = (
  who: string,
  feed: ReadonlyArray<string>,
  had: ReadonlyArray<string>,
  find: Find,
): void => {
  const known = new Set(feed);
  const first = [...new Set(had)].filter((id) => known.has(id));
  const at = feed.findIndex((id, index) => first[index] !== id);
  if (at >= 0) find("misreported", who, `has ${first[at] ?? "nothing"} instead of ${feed[at]}`);
};

/** Finds each payout whose last event says something else than the books. */
export const compareStates = (
  feed: ReadonlyArray<FeedEvent>,
  books: ReadonlyArray<Owed>,
  find: Find,
): void => {
  const last = new Map(
    feed.map(({ resultId, state, subject }) => [`${subject} ${resultId}`, state]),
  );
  const payouts = new Set(
    feed.flatMap((one) => (one.subject === "payment" ? [one.workflowId] : [])),
  );
  for (const { id, states, subject } of books) {
    if (id === undefined || !payouts.has(subject)) continue;
    const state = last.get(`payment ${id}`);
    // The ledger never knew its id, and a person has given it up.
    if (state === undefined && states.includes("unknown")) continue;
    const money = MONEY[state ?? ""];
    if (money === undefined || !states.includes(money))
      find(
        "misreported",
        subject,
        `the books have ${states.join(" or ")}; its last event ${state}`,
      );
  }
};

/** Reads the whole feed of each account, and compares it with its followers and the books. */
export const checkEvents = async (
  { environment }: Campaign,
  followed: ReadonlyMap<string, ReadonlyArray<string>>,
  books: ReadonlyArray<Owed>,
  find: Find,
  signal: AbortSignal,
): Promise<void> => {
  const { operate, receiver, starter } = environment;
  const all: Array<FeedEvent> = [];
  const hasAll = async (account: string, from: number) => {
    const events = await operate(({ ledger }) => ledger.events(account), signal);
    const last = events?.at(-1)?.id;
    const withinMs = DELIVERED_WITHIN_MS + EACH_WITHIN_MS * (events?.length ?? 0);
    const waiting = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
    await until(() => receiver.received.slice(from).some(({ id }) => id === last), waiting);
    return last;
  };
  for (const { hash, name = "default" } of environment.accounts) {
    await hasAll(hash, 0);
    const before = receiver.received.length;
    await starter("events", "redeliver", "--account", name);
    const last = await hasAll(hash, before);
    // As a person reads it.
    const { events } = JSON.parse(await starter("events", "--account", name, "--json")) as {
      readonly events: ReadonlyArray<FeedEvent>;
    };
    const ids = events.map(({ id }) => id);
    // Money may come back meanwhile: the webhook has such an event later.
    const delivered = ids.slice(0, last === undefined ? 0 : ids.indexOf(last) + 1);
    const received = (from: number) =>
      receiver.received
        .slice(from)
        .flatMap((one: Received) => (one.account === hash ? [one.id] : []));
    const read = followed.get(hash) ?? [];
    compareOrder(`the reader of ${name}`, ids.slice(0, read.length), read, find);
    compareOrder(`the webhook of ${name}`, delivered, received(0), find);
    compareOrder(`the redelivery of ${name}`, delivered, received(before), find);
    all.push(...events);
  }
  compareStates(all, books, find);
  for (const refused of receiver.refused) find("crash", "a webhook", refused);
};
