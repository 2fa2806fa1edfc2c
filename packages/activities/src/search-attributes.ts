import { defineSearchAttributeKey } from "@temporalio/common";
import { normalizedKey } from "./match-fields.ts";

// Written out, because the type that would be inferred is not exported: users would read `any`.
type Key<Type extends "KEYWORD" | "KEYWORD_LIST"> = ReturnType<
  typeof defineSearchAttributeKey<Type>
>;

/** The step that a run is at, or at which it ended; `needsAttention` while it asks a person. */
export const PAYMENT_STAGE: Key<"KEYWORD"> = defineSearchAttributeKey("PaymentStage", "KEYWORD");

/** The stage of a run that ended while its payout was open still, at the end of `completeWithin`. */
export const UNFINISHED = "unfinished";

/**
 * Keys and ids by which a run can be found: unique_request_id, payout_id, card_holder_id, … What the
 * run owns of them stands there by its kind, too: see {@link claimsOf}.
 */
export const PAYMENT_IDS: Key<"KEYWORD_LIST"> = defineSearchAttributeKey(
  "PaymentIds",
  "KEYWORD_LIST",
);

/** Currency of the money that a run moves. */
export const PAYMENT_CURRENCY: Key<"KEYWORD"> = defineSearchAttributeKey(
  "PaymentCurrency",
  "KEYWORD",
);

/** All that a waiting run awaits: `payout:<payout_id>`, `cardholder:<card_holder_id>`. */
export const PAYMENT_AWAITS: Key<"KEYWORD_LIST"> = defineSearchAttributeKey(
  "PaymentAwaits",
  "KEYWORD_LIST",
);

/** The account with the service that a run moves money of, as a hash. */
export const PAYMENT_ACCOUNT: Key<"KEYWORD"> = defineSearchAttributeKey(
  "PaymentAccount",
  "KEYWORD",
);

/**
 * Steps of a run that have sent, or are about to, and whose outcome is not known, joined by blanks.
 * A closed run that has it ended in doubt.
 */
export const PAYMENT_IN_DOUBT: Key<"KEYWORD"> = defineSearchAttributeKey(
  "PaymentInDoubt",
  "KEYWORD",
);

/** The bulk run that a payout run belongs to. */
export const PAYMENT_BATCH: Key<"KEYWORD"> = defineSearchAttributeKey("PaymentBatch", "KEYWORD");

/** The kinds of what the service makes, by the field that names one. */
const KINDS: Readonly<Record<string, string>> = {
  payout_id: "payout",
  card_holder_id: "cardholder",
  card_id: "card",
  beneficiary_id: "beneficiary",
};

/**
 * What a run or step says to be its own, as its PaymentIds have it beside the id or key alone:
 * `payout:<payout_id>`, `cardholder:<card_holder_id>`, `key:<unique_request_id>`. Only these tell who
 * owns something: nothing says that a payout has another id than a card, or than somebody's key.
 *
 * @param ids by the service's name of their field.
 */
export const claimsOf = (
  ids: Readonly<Record<string, string>>,
  key?: string,
): ReadonlyArray<string> => [
  ...Object.entries(ids).flatMap(([name, id]) =>
    id === "" ? [] : [`${KINDS[name] ?? name}:${id}`],
  ),
  ...(key === undefined || key === "" ? [] : [`key:${normalizedKey(key)}`]),
];

/** The keys and ids among the PaymentIds of a run: no marks, and no claims on what stands there too. */
export const plainIds = (paymentIds: ReadonlyArray<string>): ReadonlyArray<string> => {
  const all = new Set(paymentIds.flatMap((id) => [id, normalizedKey(id)]));
  return paymentIds.filter(
    (id) =>
      !id.startsWith("intent:") && !(id.includes(":") && all.has(id.slice(id.indexOf(":") + 1))),
  );
};

/** A text as it may stand in a visibility query. */
export const quoted = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

/** Search attributes that a namespace must have before it can run these workflows. */
export const searchAttributes: ReadonlyArray<Key<"KEYWORD"> | Key<"KEYWORD_LIST">> = [
  PAYMENT_STAGE,
  PAYMENT_IDS,
  PAYMENT_CURRENCY,
  PAYMENT_AWAITS,
  PAYMENT_BATCH,
  PAYMENT_ACCOUNT,
  PAYMENT_IN_DOUBT,
];
