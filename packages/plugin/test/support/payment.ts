/** A payment without its payee. */
export const payment = {
  amount: "12.50",
  currency: "USD",
  payout_reason: "Payment for goods",
  payment_date: "2026-12-01",
  is_payer: "Y",
} as const;
