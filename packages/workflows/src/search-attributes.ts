import { defineSearchAttributeKey, SearchAttributeType } from "@temporalio/common";

/** The step that a run is at, `needsAttention`, `done`, `failed` or `cancelled`. */
export const PAYMENT_STAGE = defineSearchAttributeKey("PaymentStage", SearchAttributeType.KEYWORD);

/** Keys and ids by which a run can be found: unique_request_id, payout_id, card_holder_id, … */
export const PAYMENT_IDS = defineSearchAttributeKey("PaymentIds", SearchAttributeType.KEYWORD_LIST);

/** Currency of the money that a run moves. */
export const PAYMENT_CURRENCY = defineSearchAttributeKey(
  "PaymentCurrency",
  SearchAttributeType.KEYWORD,
);

/** What a waiting run is to be told of: `payout:<payout_id>` or `cardholder:<card_holder_id>`. */
export const PAYMENT_AWAITS = defineSearchAttributeKey(
  "PaymentAwaits",
  SearchAttributeType.KEYWORD,
);

/** The bulk run that a payout run belongs to. */
export const PAYMENT_BATCH = defineSearchAttributeKey("PaymentBatch", SearchAttributeType.KEYWORD);

/** Search attributes that a namespace must have before it can run these workflows. */
export const searchAttributes = [
  PAYMENT_STAGE,
  PAYMENT_IDS,
  PAYMENT_CURRENCY,
  PAYMENT_AWAITS,
  PAYMENT_BATCH,
] as const;
