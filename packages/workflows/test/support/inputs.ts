import type { OnboardCardholderInput, PayoutInput } from "@durable-payments/protocol";

/** Inputs as the service's document asks for them, each a valid one. */

export const beneficiary = {
  bank_country: "DE",
  account_currency: "USD",
  entity_type: "company",
  email: "accounts@example.com",
  nickname: "Example supplier",
  company_name: "Example Supplies GmbH",
  payment_method: "swift",
  bank_name: "Example Bank",
  bank_address: "Example Street 1, Berlin",
  account_holder: "Example Supplies GmbH",
  iban: "DE89370400440532013000",
  country_code: "DE",
  city: "Berlin",
  state: "Berlin",
  address: "Example Street 2",
  postal_code: "10115",
} as const;

const payout = {
  currency: "USD",
  amount: "250.00",
  payout_reason: "Payment for goods",
  payout_reference: "Invoice 1",
  payment_date: "2026-12-01",
  is_payer: "Y",
} as const;

const cardholder = {
  email: "ada@example.com",
  first_name: "Ada",
  last_name: "Example",
  date_birth: "1990-04-12",
  phone_number: "+4930123456",
  card_holder_status: 0,
} as const;

/** A payout to a new beneficiary. */
export const payoutInput = { beneficiary, payout } satisfies PayoutInput;

/** An onboarding of a new cardholder. */
export const onboardInput = {
  cardholder,
  card: { product_code: "prepaid-usd", card_limit: "100.00" },
} satisfies OnboardCardholderInput;
