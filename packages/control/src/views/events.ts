/** Reads the feed of an account to its end, or for as long as a program follows it. */
import { type FeedEvent, type Ledger, UnknownCursor } from "@durable-payments/ledger";
import { setTimeout } from "node:timers/promises";
import { refused } from "../errors.ts";
import { checkEvents } from "../rules/filter.ts";
import { listening } from "./follow.ts";

/** Which events are read. */
export interface EventsGiven {
  /** Id of the last event that the reader has; without it, the feed is read from its first event. */
  readonly after?: string | undefined;
  /** Name or hash; default: the account that pays. */
  readonly account?: string | undefined;
  /** Whether it waits for further events. Default: false. */
  readonly isFollowed?: boolean;
  /** Ends it. */
  readonly signal?: AbortSignal | undefined;
}

/** Events that are read together. */
const PAGE = 500;

/** Time between two looks for further events, in milliseconds. */
const LOOK_EVERY_MS = 1_000;

/** Reads by a cursor. @throws NotAllowed if the ledger does not have its event, with the one to read after. */
export const knownCursor = async <A>(read: () => Promise<A>): Promise<A> => {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof UnknownCursor)) throw error;
    throw refused(error.message, { action: "events", after: error.readAfter });
  }
};

/** Returns the next events of an account. @throws NotAllowed as `knownCursor`. */
export const pageOfEvents = (
  ledger: Ledger,
  account: string,
  after: string | undefined,
): Promise<ReadonlyArray<FeedEvent>> =>
  knownCursor(() => ledger.events(account, { after, limit: PAGE }));

/** Reads the feed by pages, each after the last event of the one before. @throws InvalidInput, before it reads. */
export async function* readEvents(
  page: (after: string | undefined) => Promise<ReadonlyArray<FeedEvent>>,
  given: EventsGiven,
): AsyncGenerator<FeedEvent> {
  checkEvents(given);
  const { after, isFollowed = false, signal = new AbortController().signal } = given;
  using _listening = listening(signal);
  for (let last = after; !signal.aborted;) {
    const events = await page(last);
    for (const event of events) {
      if (signal.aborted) return;
      yield event;
    }
    last = events.at(-1)?.id ?? last;
    if (events.length === PAGE) continue;
    if (!isFollowed) return;
    await setTimeout(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
