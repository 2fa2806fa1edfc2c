import type { PromiseClient } from "@durable-payments/client";

/** As the simulator lists a cardholder whose check has ended well. */
const VERIFIED = "SUCCESS";

/** The same calls of the service as ours, and nothing else: no ledger, no checks, no reconciliation. */
export const makeBareActivities = (client: PromiseClient) => ({
  createPayout: client.createPayout,
  createCardholder: client.createCardholder,
  createCard: client.createCard,
  awaitPayout: async (payout_id: string) => {
    const payout = await client.retrievePayout({ payout_id });
    if (payout.payout_status !== "completed") throw new Error("The payout is open.");
    const { amount, currency, payout_status, short_reference } = payout;
    return { amount, currency, payout_id, payout_status, short_reference };
  },
  awaitVerification: async (wanted: string) => {
    for await (const { card_holder_id, card_holder_status } of client.streams.listCardholders()) {
      if (card_holder_id === wanted && card_holder_status === VERIFIED) return;
    }
    throw new Error("The check is open.");
  },
  awaitFunds: async (wanted: { readonly amount: string; readonly currency: string }) => {
    const { currency } = wanted;
    const { available_balance, balance_id } = await client.retrieveBalance({ currency });
    if (Number(available_balance) < Number(wanted.amount)) throw new Error("Not enough funds.");
    return { balance_id, available_balance };
  },
});

/** By activity type. */
export type BareActivities = ReturnType<typeof makeBareActivities>;
