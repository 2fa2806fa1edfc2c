/** Bodies as the service's document asks for them, each a valid one. */

export const beneficiary = {
  bank_country: "US",
  account_currency: "USD",
  entity_type: "individual",
  email: "ada@example.com",
  nickname: "Ada",
  first_name: "Ada",
  last_name: "Lovelace",
  payment_method: "local",
  bank_name: "First Bank",
  bank_address: "1 Main Street",
  account_holder: "Ada Lovelace",
  account_number: "000123456789",
  clearing_system: "ACH",
  routing_code_type1: "aba",
  routing_code_value1: "021000021",
  country_code: "US",
  city: "New York",
  state: "NY",
  address: "2 Main Street",
  postal_code: "10001",
} as const;

export const payout = {
  currency: "USD",
  amount: "12.5",
  payout_reason: "salary",
  payout_reference: "May",
  payment_date: "2026-05-31",
  is_payer: "N",
} as const;

export const cardholder = {
  email: "grace@example.com",
  first_name: "Grace",
  last_name: "Hopper",
  date_birth: "1906-12-09",
  phone_number: "+1 202 555 0100",
  residential_address: "3 Navy Yard",
  card_holder_status: 0,
} as const;
