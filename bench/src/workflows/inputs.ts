import type { Input } from "@durable-payments/client/effect";
import type { OnboardCardholderInput, PayoutInput } from "@durable-payments/protocol";
import * as inputs from "@durable-payments/tools/test-data/inputs";

/** The workflows that are measured, each there by both authors. */
export type WorkflowName = "payout" | "onboardCardholder";

/** The payee of all payouts. */
export const beneficiary: Input<"createBeneficiary"> = {
  ...inputs.beneficiary,
  account_currency: "USD",
  payment_method: "swift",
};

/** A payout with a reference that no other has. */
export const payoutInput = (beneficiary_id: string, reference: string): PayoutInput => ({
  beneficiary_id,
  payout: { ...inputs.payout, currency: "USD", amount: "1.00", payout_reference: reference },
});

/** An onboarding of a cardholder with a name that no other has. */
export const onboardInput = (name: string): OnboardCardholderInput => ({
  cardholder: { ...inputs.cardholder, last_name: name.slice(0, 50) },
  card: { ...inputs.card, card_limit: "1.00" },
});
