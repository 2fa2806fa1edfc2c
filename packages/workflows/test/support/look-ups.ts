import type { Matches, PaymentsActivities } from "@durable-payments/activities";
import type { Cardholder, Payout } from "@durable-payments/api-core";
import type { Simulator } from "@durable-payments/simulator";

/** What the look-ups say beside what the service lists. */
export type Claims = Partial<Pick<Matches<unknown>, "owners" | "rivals" | "certainAfterMs">>;

/**
 * Look-ups in the ledger of a simulator. The real ones also ask Temporal for the runs that claim
 * what was found, and the time-skipping server lists no runs: `claims` takes their place.
 */
export const lookUpsIn = (
  simulator: Simulator,
  claims: Claims = {},
): Pick<PaymentsActivities, "findPayouts" | "findCardholders"> => {
  const answer = <Item>(items: ReadonlyArray<Item>): Matches<Item> => ({
    items,
    owners: {},
    rivals: [],
    certainAfterMs: 60_000,
    ...claims,
  });
  return {
    findPayouts: async ({ request }) => {
      const { payouts } = await simulator.state();
      return answer(
        payouts
          .filter(({ beneficiary_id }) => beneficiary_id === request.beneficiary_id)
          .map(({ due_at: _, returned: __, transaction_id: ___, ...listed }): Payout => listed),
      );
    },
    findCardholders: async ({ request }) => {
      const { cardholders } = await simulator.state();
      return answer(
        cardholders
          .filter(({ last_name }) => last_name === request.last_name)
          .map(({ card_holder_id, card_holder_status, create_time }): Cardholder => ({
            card_holder_id,
            card_holder_status,
            create_time,
          })),
      );
    },
  };
};
