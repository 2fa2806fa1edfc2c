/** Items on the page that is measured: as many as the service gives at most. */
export const ITEMS = 50;

/** The id of the payout that is read. */
export const PAYOUT_ID = "2a8f5f0e-7f67-4b83-8b52-6f9a2f0d0001";

const payout = (item: number) => ({
  payout_id: PAYOUT_ID.slice(0, -4) + String(item).padStart(4, "0"),
  payout_status: "completed",
  payout_reason: "Goods purchased",
  payout_reference: `Invoice ${1000 + item}`,
  beneficiary_id: "6d3f3f5a-0a35-4b0b-9d0d-5b9f5d1c7b11",
  unique_request_id: "0b1f8c1e-58f5-5d0a-9a56-0a4b5b8e2f77",
  amount: `${100 + item}.25`,
  fee_amount: "3.50",
  currency: "USD",
  fee_paid_by: "shared",
  create_time: "2026-03-01T09:30:00+08:00",
  update_time: "2026-03-01T09:31:00+08:00",
  complete_time: item % 2 === 0 ? "2026-03-02T10:00:00+08:00" : "0001-01-01T00:00:00Z",
});

const enveloped = (data: unknown): string =>
  JSON.stringify({ code: 200, message: "Success", data });

/** The small answer: one payout, as the service retrieves it. */
export const smallAnswer = enveloped({
  ...payout(1),
  short_reference_id: "P260301-ABCD0001",
  payout_date: "2026-03-01",
  payer_id: "b9f7c5aa-2c7c-4b2e-8d5a-9a1b2c3d4e5f",
});

/** The large answer: a page of payouts, as the service lists them. */
export const listAnswer = enveloped({
  total_item: ITEMS,
  total_page: 1,
  item_list: Array.from({ length: ITEMS }, (_, item) => ({
    ...payout(item),
    reference_id: `P260301-ABCD${String(item).padStart(4, "0")}`,
    payment_date: "2026-03-01",
    beneficiary_name: "Nordwind Trading GmbH",
  })),
});

/** The answer to a sign-in; its token outlasts the bench. */
export const signInAnswer = enveloped({
  auth_token: "bench-token",
  expired_at: Date.now() + 24 * 60 * 60 * 1000,
});
