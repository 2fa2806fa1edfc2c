import type { PayoutInput } from "@durable-payments/protocol";
import { awaitPayout, checkRequests, createPayout } from "@durable-payments/workflows";

export * from "@durable-payments/workflows/definitions";

type Payment = PayoutInput["payout"] & { readonly beneficiary_id: string };

/** Two payments of one run, which a list of payouts may not distinguish. */
export interface PayTwiceInput {
  readonly first: Payment;
  readonly second: Payment;
  /** Whether both are sent, and awaited, at the same time. */
  readonly sideBySide: boolean;
  readonly account?: string;
}

/** Pays twice in one run, and returns both payouts. */
export async function payTwice({ account, first, second, sideBySide }: PayTwiceInput) {
  checkRequests({ createPayout: [first, second] });
  const pay = async (payment: Payment, step: string) =>
    awaitPayout(await createPayout(payment, { account, step }), { within: "30 days" });
  return sideBySide
    ? Promise.all([pay(first, "first"), pay(second, "second")])
    : [await pay(first, "first"), await pay(second, "second")];
}
