import { defineSearchAttributeKey, SearchAttributeType } from "@temporalio/common";

// The workflows' own definitions, written once more: importing them loads the workflow library,
// a tenth of a second of every start. A test holds the two together.

/** Where a run stands; the workflow keeps it up to date. */
export const PAYMENT_STAGE = defineSearchAttributeKey("PaymentStage", SearchAttributeType.KEYWORD);

/** Currency of the money that a run moves. */
export const PAYMENT_CURRENCY = defineSearchAttributeKey(
  "PaymentCurrency",
  SearchAttributeType.KEYWORD,
);

/** Keys and ids by which a run can be found. */
export const PAYMENT_IDS = defineSearchAttributeKey("PaymentIds", SearchAttributeType.KEYWORD_LIST);

/** What a waiting run is to be told of. */
export const PAYMENT_AWAITS = defineSearchAttributeKey(
  "PaymentAwaits",
  SearchAttributeType.KEYWORD,
);

/** The bulk run that a payout run belongs to. */
export const PAYMENT_BATCH = defineSearchAttributeKey("PaymentBatch", SearchAttributeType.KEYWORD);

/** The search attributes that a namespace must have. */
export const searchAttributes = [
  PAYMENT_STAGE,
  PAYMENT_IDS,
  PAYMENT_CURRENCY,
  PAYMENT_AWAITS,
  PAYMENT_BATCH,
] as const;
