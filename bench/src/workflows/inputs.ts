import type { Input } from "@durable-payments/api-core";
import type { OnboardCardholderInput, PayoutInput } from "@durable-payments/protocol";

/** The workflows that are measured, each there by both authors. */
export type WorkflowName = "payout" | "onboardCardholder";

/** Whom the payouts go to. */
export const beneficiary: Input<"createBeneficiary"> = {
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
};

/** A payout with a reference that no other has. */
export const payoutInput = (beneficiary_id: string, reference: string): PayoutInput => ({
  beneficiary_id,
  payout: {
    currency: "USD",
    amount: "1.00",
    payout_reason: "Payment for goods",
    payout_reference: reference,
    payment_date: "2026-12-01",
    is_payer: "Y",
  },
});

/** An onboarding of a cardholder with a name that no other has. */
export const onboardInput = (name: string): OnboardCardholderInput => ({
  cardholder: {
    email: "ada@example.com",
    first_name: "Ada",
    last_name: name.slice(0, 50),
    date_birth: "1990-04-12",
    phone_number: "+4930123456",
    card_holder_status: 0,
  },
  card: { product_code: "prepaid-usd", card_limit: "1.00" },
});
