/**
 * Deliveries of the feed to webhooks: how far each endpoint is, for each account.
 *
 * A delivery is recorded after the endpoint has accepted the event, so a worker that dies in between delivers it again,
 * with the same id. The place is in the ledger: it is restored with the events, and no endpoint waits for another.
 */
import { feedReader, numberIn, type FeedEvent } from "./feed-methods.ts";
import { DELIVERIES, type FeedDelivery } from "./feed-schema.ts";
import type { Store } from "./store.ts";
import { query } from "./table.ts";

/** Deliveries of the feed. */
export const deliveryMethods = (store: Store) => {
  const { database, seal } = store;
  const { eventsAfter, placeOf, readHead } = feedReader(store);
  const deliveries = (where: Partial<Pick<FeedDelivery, "account" | "endpoint">> = {}) =>
    store.all(
      DELIVERIES,
      { "endpoint = ?": where.endpoint, "account = ?": where.account },
      "ORDER BY account, endpoint",
    );
  const saveDelivery = DELIVERIES.saver();
  return {
    /**
     * Returns what is to be delivered next to an endpoint: events that a person has delivered again, then those after the
     * last delivered one. A new endpoint begins with the events of the last `backMs`.
     */
    undelivered: async (
      endpoint: string,
      account: string,
      limit: number,
      backMs: number,
    ): Promise<ReadonlyArray<FeedEvent>> => {
      const head = await readHead(account);
      let [delivery] = await deliveries({ endpoint, account });
      if (delivery === undefined) {
        const [found = {}] = await store.find(
          query(
            `SELECT number FROM events WHERE account = $1 AND number IS NOT NULL AND at < ${database.dialect.now} - $2 ORDER BY number DESC LIMIT 1`,
            account,
            backMs,
          ),
        );
        delivery = {
          endpoint,
          account,
          number: Number(found["number"] ?? 0),
          againAfter: null,
          againTo: null,
        };
        await store.save(`delivery ${endpoint} ${account}`, [saveDelivery(delivery, seal)]);
      }
      const { againAfter, againTo, number: last } = delivery;
      return againAfter !== null && againTo !== null
        ? eventsAfter(account, head, againAfter, limit, againTo)
        : eventsAfter(account, head, last, limit);
    },
    /** Records that an event was delivered to an endpoint. */
    delivered: (
      endpoint: string,
      { account, id }: Pick<FeedEvent, "account" | "id">,
    ): Promise<void> =>
      store.save(`delivery ${endpoint} ${account}`, [
        query(
          `UPDATE deliveries SET number = CASE WHEN number < $1 THEN $1 ELSE number END,
           again_after = CASE WHEN again_to > $1 THEN $1 END, again_to = CASE WHEN again_to > $1 THEN again_to END
           WHERE endpoint = $2 AND account = $3`,
          numberIn(id),
          endpoint,
          account,
        ),
      ]),
    deliveries,
    /**
     * Has the events of an account delivered again to all its endpoints, before new ones and in order: those after `from`,
     * up to `to`. Events that were not delivered yet are delivered once.
     *
     * @returns the number of endpoints.
     * @throws UnknownCursor.
     */
    redeliver: async (
      account: string,
      { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
    ): Promise<number> => {
      const head = await readHead(account);
      const after = await placeOf(account, from, head);
      const upTo = to === undefined ? Number.MAX_SAFE_INTEGER : await placeOf(account, to, head);
      const to_ = "CASE WHEN number < $2 THEN number ELSE $2 END";
      const again = query(
        `UPDATE deliveries SET again_after = CASE WHEN ${to_} > $1 THEN $1 END, again_to = CASE WHEN ${to_} > $1 THEN ${to_} END
         WHERE account = $3 RETURNING endpoint`,
        after,
        upTo,
        account,
      );
      return (await store.writeReturning(`delivery ${account}`, again)).length;
    },
  };
};
