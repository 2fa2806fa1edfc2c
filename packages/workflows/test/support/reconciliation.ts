import type { Match, Matches, PaymentsActivities } from "@durable-payments/activities";
import { matchCardholder, matchPayout } from "@durable-payments/activities/match-rows";
import type { Cardholder, Payout } from "@durable-payments/api-core";
import type { Simulator } from "@durable-payments/simulator";

/** What the reconciliation activities say beside what the service lists. */
export type Ownership = Partial<Omit<Matches<unknown>, "items" | "matches">>;

/** What a reconciliation says that found this; `ownership` in place of what is assumed. */
export const foundBy = <Item>(
  items: ReadonlyArray<Item>,
  matches: ReadonlyArray<Match>,
  ownership: Ownership = {},
): Matches<Item> => ({
  items,
  matches,
  concurrentRuns: [],
  unreadableRows: 0,
  keyEcho: "unknown",
  requestTimeoutMs: 30_000,
  listLagMs: 30_000,
  visibilityLagMs: 10_000,
  ...ownership,
});

/**
 * Reconciliation by the ledger of a simulator. The real ones also ask Temporal for the runs that claim
 * what was found, and the time-skipping server lists no runs: `ownership` takes their place.
 */
export const reconciliationIn = (
  simulator: Simulator,
  ownership: Ownership = {},
  { showsKeys = true }: { readonly showsKeys?: boolean } = {},
): Pick<PaymentsActivities, "findPayouts" | "findCardholders"> => ({
  findPayouts: async ({ keys = [], request }) => {
    const { payouts } = await simulator.state();
    const items = payouts
      .filter(({ beneficiary_id }) => beneficiary_id === request.beneficiary_id)
      .map(({ due_at: _, returned: __, transaction_id: ___, ...listed }): Payout => listed);
    const matches = items.map((item) => ({
      id: item.payout_id,
      isOurs: showsKeys && keys.includes(item.unique_request_id ?? ""),
      isExact: matchPayout(request, item) === "exact",
      ...(matchPayout(request, item) === "similar" && { differsInOne: true as const }),
      key: showsKeys ? item.unique_request_id : undefined,
    }));
    return foundBy(items, matches, ownership);
  },
  findCardholders: async ({ request }) => {
    const { cardholders } = await simulator.state();
    const items = cardholders
      .filter(({ last_name }) => last_name === request.last_name)
      .map(
        ({
          card_holder_id,
          card_holder_status,
          create_time,
          first_name,
          last_name,
        }): Cardholder => ({
          card_holder_id,
          card_holder_status,
          create_time,
          first_name,
          last_name,
        }),
      );
    const matches = items.map((item) => ({
      id: item.card_holder_id,
      isOurs: false,
      isExact: matchCardholder(request, item) === "exact",
    }));
    return foundBy(items, matches, ownership);
  },
});
