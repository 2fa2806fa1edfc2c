/** Inputs that are right; tests change what they are about. */
export const beneficiary = {
  bank_country: "DE",
  account_currency: "EUR",
  entity_type: "company",
  email: "accounts@example.com",
  nickname: "Example supplier",
  company_name: "Example Supplies GmbH",
  payment_method: "local",
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

/** A payout. */
export const payout = {
  currency: "EUR",
  amount: "250.00",
  payout_reason: "Payment for goods",
  payout_reference: "Invoice 2026-001",
  payment_date: "2026-12-01",
  is_payer: "Y",
} as const;

/** A person to whom a card is issued. */
export const cardholder = {
  email: "ada@example.com",
  first_name: "Ada",
  last_name: "Example",
  date_birth: "1990-04-12",
  phone_number: "+4930123456",
  card_holder_status: 0,
} as const;

/** The card that is issued. */
export const card = { product_code: "prepaid-usd", card_limit: "100.00" };
