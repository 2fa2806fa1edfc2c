import type { WriteName } from "./operation.ts";

/** How long the service is taken to remember a key. Its document does not say. */
export const KEY_LIFETIME_MS = 24 * 60 * 60_000;

/** Cards, and what is moved to and from them, are in this currency only. */
const CARD_CURRENCY = "USD";

/** Ids of what an earlier step makes. */
export const MADE_BEFORE = ["beneficiary_id", "card_holder_id", "balance_id", "card_id"];

/** What the engine has to know of an operation beside its contract. */
export interface WriteFacts {
  /** The field with the id of what it makes, or changes, in the answer or the request. */
  readonly idField: string;
  readonly isKeyed?: true;
  /** Where the request has an amount. */
  readonly amountField?: string;
  readonly currency?: string;
  readonly payeeField?: string;
  /** What a list, or a person, is shown of the request; no account or card number. */
  readonly facts?: ReadonlyArray<string>;
  /** What is kept of the answer; no account or card number. */
  readonly kept: ReadonlyArray<string>;
  readonly undoneBy?: WriteName;
}

/** What is kept of a payout. */
export const PAYOUT_KEPT = [
  "payout_id",
  "payout_status",
  "amount",
  "currency",
  "short_reference",
  "payout_reference",
  "beneficiary_id",
  "payment_date",
  "fee_amount",
  "create_time",
  "unique_request_id",
];

/** All operations of the contract that write. */
export const WRITES: Readonly<Record<WriteName, WriteFacts>> = {
  createPayout: {
    idField: "payout_id",
    isKeyed: true,
    amountField: "amount",
    payeeField: "beneficiary_id",
    facts: [
      "amount",
      "currency",
      "beneficiary_id",
      "payout_reference",
      "payout_reason",
      "payment_date",
    ],
    kept: PAYOUT_KEPT,
  },
  createCardholder: {
    idField: "card_holder_id",
    facts: ["first_name", "last_name"],
    kept: ["card_holder_id", "card_holder_status"],
    undoneBy: "removeCardholder",
  },
  createBeneficiary: {
    idField: "beneficiary_id",
    kept: ["beneficiary_id", "beneficiary_status"],
  },
  createCard: {
    idField: "card_id",
    isKeyed: true,
    amountField: "card_limit",
    currency: CARD_CURRENCY,
    payeeField: "card_holder_id",
    facts: ["card_holder_id", "product_code", "card_limit"],
    kept: ["card_id", "card_status", "unique_request_id"],
    undoneBy: "cancelCard",
  },
  withdrawFromCard: {
    // A card may be withdrawn from again and again: the key names the withdrawal.
    idField: "unique_request_id",
    isKeyed: true,
    amountField: "amount",
    currency: CARD_CURRENCY,
    payeeField: "card_id",
    facts: ["card_id", "amount"],
    kept: ["card_id", "amount", "unique_request_id"],
  },
  updateBeneficiary: { idField: "beneficiary_id", kept: ["beneficiary_id"] },
  // Its answer names nothing: there is one balance of a currency.
  createBalance: { idField: "currency", facts: ["currency"], kept: ["currency"] },
  removeCardholder: { idField: "card_holder_id", kept: ["card_holder_id"] },
  updateCard: { idField: "card_id", kept: ["card_id", "card_status"] },
  cancelCard: { idField: "card_id", kept: ["card_id", "card_status"] },
  freezeCard: { idField: "card_id", kept: ["card_id", "card_status"] },
};

/** The operations of the contract that write. */
export const writeNames = Object.keys(WRITES) as ReadonlyArray<WriteName>;

/** Whether a list of the service shows what an operation makes. */
export const isListed = (name: WriteName): boolean =>
  name === "createPayout" || name === "createCardholder";
