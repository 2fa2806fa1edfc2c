import { Schema } from "effect";

/** When the simulator itself takes the record's next step; milliseconds since 1970. */
const dueAt = { due_at: Schema.optionalKey(Schema.Finite) };

const created = { create_time: Schema.String, update_time: Schema.String };

/** What the account holds in one currency. */
const BalanceRecord = Schema.Struct({
  balance_id: Schema.String,
  currency: Schema.String,
  name: Schema.String,
  available_balance: Schema.String,
});

/** A payee; `details` are the fields of its creation, as last updated. */
const BeneficiaryRecord = Schema.Struct({
  beneficiary_id: Schema.String,
  beneficiary_status: Schema.String,
  details: Schema.Record(Schema.String, Schema.String),
  ...created,
});

/** A payout. `returned` says that its money went back to the balance. */
const PayoutRecord = Schema.Struct({
  payout_id: Schema.String,
  short_reference: Schema.String,
  payout_status: Schema.String,
  currency: Schema.String,
  amount: Schema.String,
  fee_amount: Schema.String,
  beneficiary_id: Schema.String,
  beneficiary_name: Schema.String,
  payer_id: Schema.String,
  payout_reason: Schema.String,
  payout_reference: Schema.String,
  payment_date: Schema.String,
  unique_request_id: Schema.optionalKey(Schema.String),
  transaction_id: Schema.String,
  returned: Schema.Boolean,
  complete_time: Schema.optionalKey(Schema.String),
  ...created,
  ...dueAt,
});

/** Who pays out of the account; `details` are the payer's fields. */
const PayerRecord = Schema.Struct({
  payer_id: Schema.String,
  details: Schema.Record(Schema.String, Schema.String),
});

/** One movement of money. `amount` carries no sign, the type says the direction. */
const TransactionRecord = Schema.Struct({
  transaction_id: Schema.String,
  transaction_type: Schema.String,
  transaction_status: Schema.String,
  currency: Schema.String,
  amount: Schema.String,
  reference_id: Schema.String,
  short_reference_id: Schema.String,
  create_time: Schema.String,
  complete_time: Schema.optionalKey(Schema.String),
});

/** A person who may own cards. */
const CardholderRecord = Schema.Struct({
  card_holder_id: Schema.String,
  card_holder_status: Schema.String,
  email: Schema.String,
  first_name: Schema.String,
  last_name: Schema.String,
  date_birth: Schema.String,
  phone_number: Schema.String,
  residential_address: Schema.optionalKey(Schema.String),
  delivery_address: Schema.optionalKey(Schema.String),
  removed: Schema.Boolean,
  ...created,
  ...dueAt,
});

/** A card and what is on it. */
const CardRecord = Schema.Struct({
  card_id: Schema.String,
  card_number: Schema.String,
  card_name: Schema.String,
  card_status: Schema.String,
  card_holder_id: Schema.String,
  product_code: Schema.String,
  balance_id: Schema.String,
  card_limit: Schema.String,
  available_balance: Schema.String,
  unique_request_id: Schema.String,
  ...created,
});

/** A `unique_request_id` that was used, with the data that its first use was answered. */
const UsedKeyRecord = Schema.Struct({ answer: Schema.Record(Schema.String, Schema.String) });

/** A token that was issued; milliseconds since 1970. */
const TokenRecord = Schema.Struct({ auth_token: Schema.String, expires_at: Schema.Finite });

/** A sign-in that counted against the limit; milliseconds since 1970. */
const SignInRecord = Schema.Struct({ at: Schema.Finite });

/** Every kind of record that the simulator keeps. */
export const recordSchemas = {
  balances: BalanceRecord,
  beneficiaries: BeneficiaryRecord,
  payouts: PayoutRecord,
  payers: PayerRecord,
  transactions: TransactionRecord,
  cardholders: CardholderRecord,
  cards: CardRecord,
  usedKeys: UsedKeyRecord,
  tokens: TokenRecord,
  signIns: SignInRecord,
};

/** A kind of record. */
export type Kind = keyof typeof recordSchemas;

/** A record of a kind. */
export type RecordOf<K extends Kind> = (typeof recordSchemas)[K]["Type"];

/** Every kind of record. */
// `Object.keys` forgets the names that `recordSchemas` has.
export const kinds = Object.keys(recordSchemas) as ReadonlyArray<Kind>;

/** The whole ledger as the control endpoint shows it; tokens and used keys stay inside. */
export const Ledger = Schema.Struct({
  balances: Schema.Array(BalanceRecord),
  beneficiaries: Schema.Array(BeneficiaryRecord),
  payouts: Schema.Array(PayoutRecord),
  payers: Schema.Array(PayerRecord),
  transactions: Schema.Array(TransactionRecord),
  cardholders: Schema.Array(CardholderRecord),
  cards: Schema.Array(CardRecord),
  /** Sign-ins that counted against the limit, in milliseconds since 1970. */
  sign_ins: Schema.Array(Schema.Finite),
  /** Requests by operation since the simulator started, those that were broken or refused too. */
  requests: Schema.Record(Schema.String, Schema.Finite),
});

/** The whole ledger as the control endpoint shows it. */
export type Ledger = typeof Ledger.Type;
