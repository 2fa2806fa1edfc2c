import { type Input, type Output, PaymentsClient } from "@durable-payments/api-core";
import type { ManagedRuntime } from "effect";
import { Effect, Option, Stream } from "effect";

/** As the simulator lists a cardholder whose check has ended well. */
const VERIFIED = "SUCCESS";

/** The same calls of the service as ours, and nothing else: no ledger, no checks, no reconciliation. */
export const makeBareActivities = (
  runtime: ManagedRuntime.ManagedRuntime<PaymentsClient, unknown>,
) => {
  const call = <A, E>(
    use: (client: PaymentsClient["Service"]) => Effect.Effect<A, E>,
  ): Promise<A> => runtime.runPromise(PaymentsClient.use(use));
  return {
    createPayout: (request: Input<"createPayout">): Promise<Output<"createPayout">> =>
      call((client) => client.createPayout(request)),
    createCardholder: (request: Input<"createCardholder">): Promise<Output<"createCardholder">> =>
      call((client) => client.createCardholder(request)),
    createCard: (request: Input<"createCard">): Promise<Output<"createCard">> =>
      call((client) => client.createCard(request)),
    awaitPayout: async (payout_id: string) => {
      const payout = await call((client) => client.retrievePayout({ payout_id }));
      if (payout.payout_status !== "completed") throw new Error("The payout is open.");
      const { amount, currency, payout_status, short_reference } = payout;
      return { amount, currency, payout_id, payout_status, short_reference };
    },
    awaitVerification: async (card_holder_id: string) => {
      const found = await call((client) =>
        client.streams.listCardholders().pipe(
          Stream.filter((cardholder) => cardholder.card_holder_id === card_holder_id),
          Stream.runHead,
        ),
      );
      const status = Option.map(found, ({ card_holder_status }) => card_holder_status);
      if (Option.getOrUndefined(status) !== VERIFIED) throw new Error("The check is open.");
    },
    awaitFunds: async ({
      amount,
      currency,
    }: {
      readonly amount: string;
      readonly currency: string;
    }) => {
      const balance = await call((client) => client.retrieveBalance({ currency }));
      if (Number(balance.available_balance) < Number(amount)) throw new Error("Not enough funds.");
      return { balance_id: balance.balance_id, available_balance: balance.available_balance };
    },
  };
};

/** By activity type. */
export type BareActivities = ReturnType<typeof makeBareActivities>;
