/**
 * Deliveries of the feed to webhooks: how far each endpoint is, for each account.
 *
 * A delivery is recorded after the endpoint has accepted the event, so a worker that dies in between delivers it again,
 * with the same id. The place is in the ledger: it is restored with the events, and no endpoint waits for another.
 */
import { feedReader, numberIn, type FeedEvent, UnknownCursor } from "./feed-methods.ts";
import { DELIVERIES } from "./feed-schema.ts";
import type { Store } from "./store.ts";
import { query } from "./table.ts";

/** An event as it is delivered. */
export interface DeliveredEvent extends FeedEvent {
  /** Events before it that were pruned and never delivered; left out if there are none. */
  readonly missed?: number;
}

/** Deliveries of the feed. */
export const deliveryMethods = (store: Store) => {
  const { database, seal } = store;
  const { eventsAfter, feeds, numberAll, placeOf, readHead } = feedReader(store);
  const deliveriesTo = (endpoint: string) => store.all(DELIVERIES, { "endpoint = ?": endpoint });
  /** Begins before the recent events of each account, all at once: an account whose first event comes later has no older one. */
  const begin = async (endpoint: string, backMs: number): Promise<void> => {
    const accounts = await feeds();
    for (const account of accounts) await numberAll(account);
    const recent = `coalesce((SELECT number FROM events WHERE account = $2 AND number IS NOT NULL
      AND at < ${database.dialect.now} - $3 ORDER BY number DESC LIMIT 1), 0)`;
    const insert = `INSERT INTO deliveries (endpoint, account, number) VALUES ($1, $2, ${recent}) ON CONFLICT DO NOTHING`;
    await store.save(
      `delivery ${endpoint}`,
      accounts.map((account) => query(insert, endpoint, account, backMs)),
    );
  };
  const insertDelivery = DELIVERIES.inserter([], undefined, "ON CONFLICT DO NOTHING");
  /** Whether an event before $1 is to be delivered again. */
  const isEarlierLeft =
    "EXISTS (SELECT 1 FROM events WHERE events.account = $3 AND events.number > again_after AND events.number < $1)";
  return {
    /**
     * Returns what is to be delivered next to an endpoint: events that a person has delivered again, then those after the
     * last delivered one. A new endpoint begins with the events of the last `backMs`; an account whose first event comes
     * later, with its first one. If events were pruned before they were delivered, the first that is left says how many.
     */
    undelivered: async (
      endpoint: string,
      account: string,
      limit: number,
      backMs: number,
    ): Promise<ReadonlyArray<DeliveredEvent>> => {
      const all = await deliveriesTo(endpoint);
      if (all.length === 0) await begin(endpoint, backMs);
      const head = await readHead(account);
      const first = { endpoint, account, number: 0, againAfter: null, againTo: null };
      const known = all.length === 0 ? await deliveriesTo(endpoint) : all;
      const delivery = known.find((one) => one.account === account) ?? first;
      if (delivery === first)
        await store.save(`delivery ${endpoint} ${account}`, [insertDelivery(first, seal)]);
      const { againAfter, againTo, number: last } = delivery;
      if (againAfter !== null && againTo !== null) {
        const again = await eventsAfter(account, head, againAfter, limit, againTo);
        // They may have been pruned meanwhile.
        if (again.length > 0) return again;
      }
      const events = await eventsAfter(account, head, last, limit);
      const missed = numberIn(events[0]?.id ?? "") - 1 - last;
      return events.map((event, at) => (at === 0 && missed > 0 ? { ...event, missed } : event));
    },
    /**
     * Records that an event was delivered to an endpoint. An event that was being delivered when a person had others
     * delivered again is not one of those.
     */
    delivered: (endpoint: string, { account, id }: Pick<FeedEvent, "account" | "id">) =>
      store.save(`delivery ${endpoint} ${account}`, [
        query(
          `UPDATE deliveries SET number = CASE WHEN number < $1 THEN $1 ELSE number END,
           again_after = CASE WHEN ${isEarlierLeft} THEN again_after WHEN again_to > $1 THEN $1 END,
           again_to = CASE WHEN ${isEarlierLeft} OR again_to > $1 THEN again_to END
           WHERE endpoint = $2 AND account = $3`,
          numberIn(id),
          endpoint,
          account,
        ),
      ]),
    /**
     * Has the events of an account delivered again to all its endpoints, before new ones and in order: from `from` to
     * `to`, both included. Events that were not delivered yet are delivered once. If others are being delivered again, it
     * begins with the earlier start and ends with the later end of both.
     *
     * @returns the number of endpoints.
     * @throws UnknownCursor, also if `from` is after `to`.
     */
    redeliver: async (
      account: string,
      { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
    ): Promise<number> => {
      const head = await readHead(account);
      const after = from === undefined ? 0 : (await placeOf(account, from, head, true)) - 1;
      const upTo =
        to === undefined ? Number.MAX_SAFE_INTEGER : await placeOf(account, to, head, true);
      if (upTo <= after)
        throw new UnknownCursor(
          `The event ${from} is after ${to}: give the earlier one first. Nothing was changed.`,
          undefined,
        );
      const to_ = "CASE WHEN number < $2 THEN number ELSE $2 END";
      const again = query(
        `UPDATE deliveries SET
         again_after = CASE WHEN ${to_} <= $1 OR again_after < $1 THEN again_after ELSE $1 END,
         again_to = CASE WHEN ${to_} <= $1 OR again_to > ${to_} THEN again_to ELSE ${to_} END
         WHERE account = $3 RETURNING endpoint`,
        after,
        upTo,
        account,
      );
      return (await store.writeReturning(`delivery ${account}`, again)).length;
    },
  };
};
