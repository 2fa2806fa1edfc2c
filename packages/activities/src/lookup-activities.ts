import type {
  Cardholder,
  Input,
  Payout,
  PaymentsClient,
  PaymentsError,
} from "@durable-payments/api-core";
import { Effect, Stream } from "effect";
import { findOwners, findRivals } from "./claims.ts";
import { toApplicationFailure } from "./failures.ts";
import { createdAt, isNewestFirst } from "./list-order.ts";
import { isSameAmount } from "./money.ts";
import { type PaymentsRuntime, runInActivity } from "./run-operation.ts";

/** A write whose answer did not come. */
export interface Sent<Request> {
  readonly request: Request;
  /** When the run first meant to send it: milliseconds since 1970. */
  readonly since: number;
  /** The mark in the search attribute PaymentIds of runs that mean to make the like. */
  readonly intentMark: string;
  /** Other keys under which the same step may have sent it. */
  readonly keys?: ReadonlyArray<string>;
}

/** What the service lists that may be what was sent. */
export interface Matches<Item> {
  readonly items: ReadonlyArray<Item>;
  /** The runs, other than this one, that own an item: workflow id by the item's id or key. */
  readonly owners: Readonly<Record<string, string>>;
  /** Workflow ids of other runs that may have made the like and do not know yet. */
  readonly rivals: ReadonlyArray<string>;
  /**
   * Milliseconds after a send from which on "not listed" means "not carried out": the client's
   * longest request, and the time that the list may lag.
   */
  readonly certainAfterMs: number;
}

/** Look-ups by which a run finds out whether a write without an answer was carried out. */
export interface LookupActivities {
  /** Payouts with the very key, and those alike, created since. */
  readonly findPayouts: (sent: Sent<Input<"createPayout">>) => Promise<Matches<Payout>>;
  /** Cardholders of the same name, created since. */
  readonly findCardholders: (sent: Sent<Input<"createCardholder">>) => Promise<Matches<Cardholder>>;
}

/** How far the service's clock may run behind ours. */
const CLOCK_SKEW_MS = 5 * 60_000;

const isSameText = (a: string | undefined, b: string | undefined): boolean =>
  (a ?? "") === (b ?? "");

/** Payouts created since; reads on to the end where the list turns out not to be newest first. */
const payoutsSince = (
  client: PaymentsClient["Service"],
  since: number,
): Effect.Effect<ReadonlyArray<Payout>, PaymentsError> =>
  Effect.gen(function* () {
    const found = new Map<string, Payout>();
    for (let page_num = 1; ; page_num++) {
      const page = yield* client.listPayouts({ page_num, page_size: 50 });
      for (const payout of page.item_list) {
        if (createdAt(payout) >= since) found.set(payout.payout_id, payout);
      }
      const times = page.item_list.map(createdAt);
      const isPast = isNewestFirst(times) && (times.at(-1) ?? 0) < since;
      if (isPast || times.length === 0 || page_num >= (page.total_page ?? Number.POSITIVE_INFINITY))
        return [...found.values()];
    }
  });

const certainAfterMs = ({ options }: PaymentsClient["Service"]): number =>
  options.requestTimeoutMs + options.assumptions.listLagSeconds * 1000;

/** The look-up activities over a client. */
export const makeLookupActivities = (runtime: PaymentsRuntime): LookupActivities => {
  const look = <A>(call: Parameters<typeof runInActivity<A>>[1]): Promise<A> =>
    runInActivity(runtime, call, (error) => toApplicationFailure(error, { nonRetryable: false }));

  return {
    findPayouts: async ({ intentMark, keys = [], request, since }) => {
      const { certain, recent } = await look((client) =>
        Effect.map(payoutsSince(client, since - CLOCK_SKEW_MS), (recent) => ({
          certain: certainAfterMs(client),
          recent,
        })),
      );
      const isOurs = ({ unique_request_id }: Payout) =>
        unique_request_id !== undefined &&
        (unique_request_id === request.unique_request_id || keys.includes(unique_request_id));
      const isAlike = (payout: Payout) =>
        payout.beneficiary_id === request.beneficiary_id &&
        payout.currency === request.currency &&
        payout.amount !== undefined &&
        isSameAmount(payout.amount, request.amount) &&
        isSameText(payout.payout_reference, request.payout_reference);
      const items = recent.filter((payout) => isOurs(payout) || isAlike(payout));
      const rivals = await findRivals(intentMark);
      return {
        items,
        owners: await findOwners(
          items.flatMap(({ payout_id, unique_request_id }) => [payout_id, unique_request_id ?? ""]),
        ),
        rivals,
        certainAfterMs: certain,
      };
    },

    findCardholders: async ({ intentMark, request, since }) => {
      const { certain, items } = await look((client) =>
        client.streams.listCardholders().pipe(
          Stream.filter(
            (listed) =>
              createdAt(listed) >= since - CLOCK_SKEW_MS &&
              isSameText(listed.first_name, request.first_name) &&
              isSameText(listed.last_name, request.last_name),
          ),
          Stream.runCollect,
          Effect.map((items) => ({ certain: certainAfterMs(client), items })),
        ),
      );
      const rivals = await findRivals(intentMark);
      return {
        items,
        owners: await findOwners(items.map(({ card_holder_id }) => card_holder_id)),
        rivals,
        certainAfterMs: certain,
      };
    },
  };
};
