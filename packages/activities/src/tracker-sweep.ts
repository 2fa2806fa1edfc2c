import {
  type Assumptions,
  type Cardholder,
  type Page,
  type PaymentsClient,
  type PaymentsError,
  type Payout,
  readTime,
} from "@durable-payments/api-core";
import type { CheckedCardholder, CompletionSignals, EndedPayout } from "@durable-payments/protocol";
import type { Effect } from "effect";
import { NewestFirst } from "./list-order.ts";
import { cardholderState, payoutState } from "./statuses.ts";
import type { Wait, WaitingRuns } from "./tracker-runs.ts";

/** A signal for every run that waits for something. */
export interface CompletionSignal {
  readonly signal: keyof CompletionSignals;
  readonly content: CompletionSignals[keyof CompletionSignals];
}

/** A list of the service, and which items of it end a wait. */
export interface TrackedList<Item> {
  /** What stands before the colon in PaymentAwaits. */
  readonly kind: "payout" | "cardholder";
  readonly read: (
    client: PaymentsClient["Service"],
    page: { readonly page_num: number; readonly page_size: number },
  ) => Effect.Effect<Page<Item>, PaymentsError>;
  readonly idOf: (item: Item) => string;
  /** The signal to send; undefined while the item's state is open. */
  readonly signalOf: (item: Item, assumptions: Assumptions) => CompletionSignal | undefined;
  /** Whether an item is no older than the run that waits for it. */
  readonly isMadeByItsRun: boolean;
}

/** Payouts, by page. */
export const trackedPayouts: TrackedList<Payout> = {
  kind: "payout",
  read: (client, page) => client.listPayouts(page),
  idOf: ({ payout_id }) => payout_id,
  signalOf: (payout, assumptions) => {
    const outcome = payoutState(payout, assumptions);
    return outcome === "open"
      ? undefined
      : { signal: "payoutEnded", content: { outcome, payout } satisfies EndedPayout };
  },
  isMadeByItsRun: true,
};

/** Cardholders, by page; an onboarding may take one that has stood for long. */
export const trackedCardholders: TrackedList<Cardholder> = {
  kind: "cardholder",
  read: (client, page) => client.listCardholders(page),
  idOf: ({ card_holder_id }) => card_holder_id,
  signalOf: (cardholder, assumptions) => {
    const outcome = cardholderState(cardholder, assumptions);
    return outcome === "open"
      ? undefined
      : {
          signal: "cardholderChecked",
          content: { outcome, cardholder } satisfies CheckedCardholder,
        };
  },
  isMadeByItsRun: false,
};

/** The largest page of both lists. */
const PAGE_SIZE = 50;

const SHORTEST_MS = 1_000;
const LONGEST_MS = 60_000;

/** What a sweep reaches within this time lies near the list's beginning. */
const NEAR_MS = 250;

/** Sweeps that go deeper take a fifth of the time at most. */
const REST = 4;

/** When to read the list again for what is waited for: after a tenth of its time, within 1 and 60 seconds. */
const dueAt = ({ polledAt, since }: Wait): number =>
  polledAt === undefined
    ? 0
    : polledAt + Math.max(SHORTEST_MS, Math.min(LONGEST_MS, (polledAt - since) / 10));

/**
 * Whether a list that was read and did not show it is to be read to its end: the item may be
 * older than its run, or dated by a clock that is far off. Later and later, for that is a long way.
 */
const mustReadToEnd = (
  { createdAt, polledAt, missedAt, since }: Wait,
  now: number,
  { listLagSeconds }: Assumptions,
): boolean =>
  createdAt === undefined &&
  polledAt !== undefined &&
  now - since >= Math.max(listLagSeconds * 1000, 2 * ((missedAt ?? since) - since));

/** Whether the pages of a list that a sweep reads have reached its end. */
class PagesRead {
  #largest = 0;
  #last: string | undefined;

  /** Takes in the next page. */
  isLast(
    { item_list, total_item = 0, total_page, unreadable }: Page<unknown>,
    page_num: number,
    ids: ReadonlyArray<string>,
  ): boolean {
    const count = item_list.length + unreadable.length;
    this.#largest = Math.max(this.#largest, count);
    const shown = JSON.stringify([ids, unreadable]);
    const isRepeated = shown === this.#last;
    this.#last = shown;
    const isEndByTotals =
      page_num >= (total_page ?? Number.POSITIVE_INFINITY) &&
      // Pages may be counted at the size that was asked for, and be smaller.
      (total_page ?? 0) * this.#largest >= total_item;
    return count === 0 || isRepeated || isEndByTotals;
  }
}

/** What a sweep needs of the activity that makes it. */
export interface Sweeping<Item> {
  readonly list: TrackedList<Item>;
  readonly waiting: WaitingRuns;
  readonly assumptions: Assumptions;
  /** The page to begin with: after the first where a sweep is taken up that another worker began. */
  readonly fromPage: number;
  /** Until then only what is new is searched for; what the sweep before this one has returned. */
  readonly restsUntil: number;
  /** Reads a page; each is one request. */
  readonly read: (page: {
    readonly page_num: number;
    readonly page_size: number;
  }) => Promise<Page<Item>>;
  /** Signals the runs that wait for what a page showed. */
  readonly signalAll: (
    signalled: ReadonlyArray<readonly [Wait, CompletionSignal]>,
  ) => Promise<void>;
}

/**
 * Read the list from its first page down to the oldest item that is due, and no further where it
 * seems newest first: a sweep concludes nothing from what it has not read. What was not shown is
 * searched for to the end of the list, once it has waited as long as a list may lag. A sweep that took
 * long is followed by a rest, in which only what lies near the beginning is searched for: new payouts do
 * not wait for the old ones, and the service is left time for others.
 *
 * @returns until when the next sweep has to rest.
 */
export const sweep = async <Item extends { readonly create_time?: string }>({
  assumptions,
  fromPage,
  list,
  read,
  restsUntil,
  signalAll,
  waiting,
}: Sweeping<Item>): Promise<number> => {
  const began = Date.now();
  const oldest = (wait: Wait): number => {
    if (wait.createdAt !== undefined) return wait.createdAt;
    return list.isMadeByItsRun && !mustReadToEnd(wait, began, assumptions)
      ? wait.since - assumptions.clockSkewSeconds * 1000
      : 0;
  };
  const due = waiting
    .of(list.kind)
    .filter((wait) => dueAt(wait) <= began)
    .filter(({ reachedAfterMs }) => began >= restsUntil || reachedAfterMs <= NEAR_MS)
    .toSorted((a, b) => oldest(a) - oldest(b));
  // Sets keep their order: the first is always the oldest.
  const unseen = new Set(due);
  const markPolled = (wait: Wait): void => {
    unseen.delete(wait);
    wait.polledAt = Date.now();
    wait.reachedAfterMs = wait.polledAt - began;
  };
  const order = new NewestFirst();
  const pages = new PagesRead();
  let isRead = false;
  for (let page_num = fromPage; unseen.size > 0; page_num++) {
    const page = await read({ page_num, page_size: PAGE_SIZE });
    const signalled: Array<readonly [Wait, CompletionSignal]> = [];
    for (const item of page.item_list) {
      const created = readTime(item.create_time, assumptions);
      order.note(created);
      const wait = waiting.find(`${list.kind}:${list.idOf(item)}`);
      if (wait === undefined) continue;
      if (created !== undefined) wait.createdAt = created.earliest;
      markPolled(wait);
      const completion = list.signalOf(item, assumptions);
      if (completion !== undefined) signalled.push([wait, completion]);
    }
    if (signalled.length > 0) await signalAll(signalled);
    const [deepest] = unseen;
    isRead = pages.isLast(page, page_num, page.item_list.map(list.idOf));
    if (isRead || (deepest !== undefined && order.isPast(oldest(deepest)))) break;
  }
  // What the list does not show, or not yet, was searched for all the same.
  if (fromPage === 1) {
    for (const wait of unseen) {
      markPolled(wait);
      if (isRead) wait.missedAt = wait.polledAt;
    }
  }
  const now = Date.now();
  const took = now - began;
  return took > NEAR_MS ? now + REST * took : restsUntil;
};
