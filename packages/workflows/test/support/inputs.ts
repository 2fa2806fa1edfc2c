import type { OnboardCardholderInput, PayoutInput } from "@durable-payments/protocol";
import * as inputs from "@durable-payments/tools/test-data/inputs";

/** A payee by SWIFT, in the currency of the simulator's balance. */
export const beneficiary = {
  ...inputs.beneficiary,
  account_currency: "USD",
  payment_method: "swift",
} as const;

const payout = { ...inputs.payout, currency: "USD", payout_reference: "Invoice 1" } as const;

/** A payout to a new beneficiary. */
export const payoutInput = { beneficiary, payout } satisfies PayoutInput;

/** An onboarding of a new cardholder. */
export const onboardInput = {
  cardholder: inputs.cardholder,
  card: inputs.card,
} satisfies OnboardCardholderInput;
