/** Inputs as the service's document asks for them, each a valid one. */

export const IBAN = "DE89370400440532013000";

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
  iban: IBAN,
  country_code: "DE",
  city: "Berlin",
  state: "Berlin",
  address: "Example Street 2",
  postal_code: "10115",
} as const;

export const payout = {
  currency: "USD",
  amount: "250.00",
  payout_reason: "goods",
  payout_reference: "Invoice 1",
  payment_date: "2026-12-01",
  beneficiary_id: "beneficiary-1",
  is_payer: "Y",
  unique_request_id: "key-1",
} as const;

export const cardholder = {
  email: "ada@example.com",
  first_name: "Ada",
  last_name: "Example",
  date_birth: "1990-04-12",
  phone_number: "+4930123456",
  card_holder_status: 0,
} as const;

export const card = {
  card_holder_id: "cardholder-1",
  product_code: "prepaid-usd",
  balance_id: "balance-1",
  card_limit: "100.00",
  unique_request_id: "key-1",
} as const;
