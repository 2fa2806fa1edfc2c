import { Schema } from "effect";

/** Fields that are texts. */
const texts = <Name extends string>(...names: ReadonlyArray<Name>) =>
  // `Object.fromEntries` forgets the names.
  Object.fromEntries(names.map((name) => [name, Schema.String])) as {
    readonly [_ in Name]: Schema.String;
  };

const optionalText = Schema.optionalKey(Schema.String);

const details = Schema.Record(Schema.String, Schema.String);

const created = texts("create_time", "update_time");

/** Time of the record's next step by the service itself; milliseconds since 1970. */
const dueAt = { due_at: Schema.optionalKey(Schema.Finite) };

/** Every kind of record that the simulator keeps. */
export const recordSchemas = {
  /** The balance in one currency. */
  balances: Schema.Struct(texts("balance_id", "currency", "name", "available_balance")),
  /** A payee; `details` are the fields of its creation, as last updated. */
  beneficiaries: Schema.Struct({
    ...texts("beneficiary_id", "beneficiary_status"),
    details,
    ...created,
  }),
  /** A payout. `returned` says that its money went back to the balance. */
  payouts: Schema.Struct({
    ...texts("payout_id", "short_reference", "payout_status", "currency", "amount", "fee_amount"),
    ...texts("beneficiary_id", "beneficiary_name", "payer_id", "payout_reason"),
    ...texts("payout_reference", "payment_date", "transaction_id"),
    unique_request_id: optionalText,
    returned: Schema.Boolean,
    complete_time: optionalText,
    ...created,
    ...dueAt,
  }),
  /** A payer of the account; `details` are the payer's fields. */
  payers: Schema.Struct({ payer_id: Schema.String, details }),
  /** One movement of money. `amount` carries no sign, the type says the direction. */
  transactions: Schema.Struct({
    ...texts("transaction_id", "transaction_type", "transaction_status", "currency", "amount"),
    ...texts("reference_id", "short_reference_id", "create_time"),
    complete_time: optionalText,
  }),
  /** A person who may own cards. */
  cardholders: Schema.Struct({
    ...texts("card_holder_id", "card_holder_status", "email", "first_name", "last_name"),
    ...texts("date_birth", "phone_number"),
    residential_address: optionalText,
    delivery_address: optionalText,
    removed: Schema.Boolean,
    ...created,
    ...dueAt,
  }),
  /** A card and its balance. */
  cards: Schema.Struct({
    ...texts("card_id", "card_number", "card_name", "card_status", "card_holder_id"),
    ...texts("product_code", "balance_id", "card_limit", "available_balance"),
    ...texts("unique_request_id"),
    ...created,
  }),
  /** A used `unique_request_id`, with the data of the first response. */
  usedKeys: Schema.Struct({ answer: details }),
  /** A token that was issued; milliseconds since 1970. */
  tokens: Schema.Struct({ auth_token: Schema.String, expires_at: Schema.Finite }),
  /** A sign-in that counted against the limit; milliseconds since 1970. */
  signIns: Schema.Struct({ at: Schema.Finite }),
};

/** A kind of record. */
export type Kind = keyof typeof recordSchemas;

/** A record of a kind. */
export type RecordOf<K extends Kind> = (typeof recordSchemas)[K]["Type"];

/** Every kind of record. */
// `Object.keys` forgets the names that `recordSchemas` has.
export const kinds = Object.keys(recordSchemas) as ReadonlyArray<Kind>;

/** The records that the control endpoint shows; tokens and used keys stay inside. */
type ShownRecords = {
  readonly [K in Exclude<Kind, "signIns" | "tokens" | "usedKeys">]: ReadonlyArray<RecordOf<K>>;
};

/** All records, as the control endpoint shows them. */
export interface ServiceBooks extends ShownRecords {
  /** Sign-ins that counted against the limit, in milliseconds since 1970. */
  readonly sign_ins: ReadonlyArray<number>;
  /** Requests by operation since the simulator started, also broken and refused ones. */
  readonly requests: Readonly<Record<string, number>>;
  /** The number of these requests that got 429, by the temperament's `requestsPerSecond`. */
  readonly rate_limited: number;
}
