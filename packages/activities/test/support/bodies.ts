import * as inputs from "@durable-payments/tools/test-data/inputs";

/** Inputs of single operations: those of runs, with the ids and keys that a run adds. */

export const beneficiary = {
  ...inputs.beneficiary,
  account_currency: "USD",
  payment_method: "swift",
} as const;

export const payout = {
  ...inputs.payout,
  currency: "USD",
  payout_reason: "goods",
  payout_reference: "Invoice 1",
  beneficiary_id: "beneficiary-1",
  unique_request_id: "key-1",
} as const;

export const { cardholder } = inputs;

export const card = {
  ...inputs.card,
  card_holder_id: "cardholder-1",
  balance_id: "balance-1",
  unique_request_id: "key-1",
} as const;
