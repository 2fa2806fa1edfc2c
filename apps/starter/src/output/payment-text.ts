import type { PaymentMemo } from "@durable-payments/protocol";

/** What a run moves, as a person reads it: `20.00 EUR to Supplier from eu (was 900.00 EUR)`. */
export const paymentText = ({ account, amount, before, currency, payee }: PaymentMemo): string => {
  const isAmended =
    before !== undefined && (before.amount !== amount || before.currency !== currency);
  return [
    `${amount} ${currency}`,
    ...(payee === undefined ? [] : [`to ${payee}`]),
    ...(account === undefined ? [] : [`from ${account}`]),
    ...(isAmended ? [`(was ${before.amount} ${before.currency})`] : []),
  ].join(" ");
};
