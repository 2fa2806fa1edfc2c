type Type = "KEYWORD" | "KEYWORD_LIST";

/** A search attribute, as `defineSearchAttributeKey` of @temporalio/common returns it. */
export interface SearchAttribute<T extends Type> {
  readonly name: string;
  readonly type: T;
}

const key = <T extends Type>(name: string, type: T): SearchAttribute<T> => ({ name, type });

/** The step that a run is at, or at which it ended; `needsAttention` while it asks a person. */
export const PAYMENT_STAGE = key("PaymentStage", "KEYWORD");

/**
 * Keys and ids by which a run can be found: unique_request_id, payout_id, card_holder_id, … What the
 * run owns of them stands there by its kind, too: see {@link ownershipKeys}.
 */
export const PAYMENT_IDS = key("PaymentIds", "KEYWORD_LIST");

/** Currency of the money that a run moves. */
export const PAYMENT_CURRENCY = key("PaymentCurrency", "KEYWORD");

/** All that a waiting run awaits: `payout:<payout_id>`, `cardholder:<card_holder_id>`. */
export const PAYMENT_AWAITS = key("PaymentAwaits", "KEYWORD_LIST");

/** The account with the service that a run moves money of, as a hash. */
export const PAYMENT_ACCOUNT = key("PaymentAccount", "KEYWORD");

/**
 * Steps of a run that have sent, or are about to, and whose outcome is not known, joined by blanks.
 * A closed run that has it ended in doubt.
 */
export const PAYMENT_IN_DOUBT = key("PaymentInDoubt", "KEYWORD");

/** The batch that a payout run belongs to. */
export const PAYMENT_BATCH = key("PaymentBatch", "KEYWORD");

/** Search attributes that a namespace must have before it can run these workflows. */
export const searchAttributes: ReadonlyArray<SearchAttribute<Type>> = [
  PAYMENT_STAGE,
  PAYMENT_IDS,
  PAYMENT_CURRENCY,
  PAYMENT_AWAITS,
  PAYMENT_BATCH,
  PAYMENT_ACCOUNT,
  PAYMENT_IN_DOUBT,
];
