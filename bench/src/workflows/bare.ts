// The steps of our payout and onboarding as one writes them by hand on the bare SDK: no ledger, no question to a
// person, nothing for the Web UI.
import type {
  OnboardCardholderInput,
  OnboardCardholderResult,
  PayoutInput,
  PayoutResult,
} from "@durable-payments/protocol";
import { ApplicationFailure, proxyActivities, workflowInfo } from "@temporalio/workflow";
import type { BareActivities } from "./bare-activities.ts";

const service = proxyActivities<BareActivities>({
  startToCloseTimeout: "5 minutes",
  scheduleToCloseTimeout: "30 days",
});

/** Creates a payout to a known beneficiary, and waits for its end. */
export async function payout(input: PayoutInput): Promise<PayoutResult> {
  if (!("beneficiary_id" in input)) throw ApplicationFailure.nonRetryable("no beneficiary_id");
  const { payout_id } = await service.createPayout({
    ...input.payout,
    beneficiary_id: input.beneficiary_id,
    unique_request_id: workflowInfo().workflowId,
  });
  const seen = await service.awaitPayout(payout_id);
  return {
    payout_id,
    short_reference: seen.short_reference ?? null,
    payout_status: seen.payout_status,
    amount: seen.amount ?? null,
    currency: seen.currency ?? null,
  };
}

const currency = "USD";

/** Creates a cardholder, waits for the identity check, and issues a funded card. */
export async function onboardCardholder(
  input: OnboardCardholderInput,
): Promise<OnboardCardholderResult> {
  if (!("cardholder" in input)) throw ApplicationFailure.nonRetryable("no cardholder");
  const { card_limit, product_code } = input.card;
  const { card_holder_id } = await service.createCardholder(input.cardholder);
  await service.awaitVerification(card_holder_id);
  const { balance_id } = await service.awaitFunds({ amount: card_limit, currency });
  const { card_id, card_status = null } = await service.createCard({
    card_holder_id,
    balance_id,
    product_code,
    card_limit,
    unique_request_id: workflowInfo().workflowId,
  });
  return { card_holder_id, card_id, card_status, balance_id, card_limit };
}
