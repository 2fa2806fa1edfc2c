import {
  fallbackPollingQueue,
  type OnboardCardholderInput,
  type OnboardCardholderResult,
  type PayoutInput,
  type PayoutResult,
  serviceQueue,
} from "@durable-payments/protocol";
// The steps of our payout and onboarding runs as one writes them by hand on the bare SDK: the same
// activities on the same queues, without progress, search attributes, audit trail or questions.
import type { PaymentsActivities } from "@durable-payments/activities";
import {
  ApplicationFailure,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from "@temporalio/workflow";

const { checkRequests } = proxyLocalActivities<Pick<PaymentsActivities, "checkRequests">>({
  startToCloseTimeout: "10 seconds",
});

const timeouts = {
  startToCloseTimeout: "5 minutes",
  heartbeatTimeout: "15 seconds",
  scheduleToCloseTimeout: "30 days",
} as const;

const service = proxyActivities<PaymentsActivities>({
  ...timeouts,
  get taskQueue() {
    return serviceQueue(workflowInfo().taskQueue);
  },
});

const waiting = proxyActivities<PaymentsActivities>({
  ...timeouts,
  get taskQueue() {
    return fallbackPollingQueue(workflowInfo().taskQueue);
  },
});

const pace = () => ({
  minIntervalMs: 1_000,
  maxIntervalMs: 15 * 60_000,
  until: Date.now() + 30 * 24 * 60 * 60_000,
});

/** Creates a payout to a known beneficiary, and awaits its end. */
export async function payout(input: PayoutInput): Promise<PayoutResult> {
  if (!("beneficiary_id" in input)) throw ApplicationFailure.nonRetryable("no beneficiary_id");
  const request = {
    ...input.payout,
    beneficiary_id: input.beneficiary_id,
    unique_request_id: workflowInfo().workflowId,
  };
  await checkRequests([{ operation: "createPayout", input: request, at: "payout" }]);
  const created = await service.createPayout(request);
  const { outcome, payout } = await waiting.awaitPayoutEnd({
    payout_id: created.payout_id,
    ...pace(),
  });
  if (outcome === "failed") throw ApplicationFailure.nonRetryable("the payout failed");
  return {
    payout_id: payout.payout_id,
    short_reference: payout.short_reference ?? null,
    payout_status: payout.payout_status ?? null,
    amount: payout.amount ?? null,
    currency: payout.currency ?? null,
    complete_time: payout.complete_time ?? null,
    outcome,
  };
}

const currency = "USD";

/** Creates a cardholder, awaits the identity check, and issues a funded card. */
export async function onboardCardholder(
  input: OnboardCardholderInput,
): Promise<OnboardCardholderResult> {
  if (!("cardholder" in input)) throw ApplicationFailure.nonRetryable("no cardholder");
  const { product_code } = input.card;
  const card_limit = String(input.card.card_limit);
  await checkRequests([
    { operation: "createCardholder", input: input.cardholder, at: "cardholder" },
    {
      operation: "createCard",
      input: { card_limit, product_code },
      later: ["card_holder_id", "balance_id", "unique_request_id"],
      at: "card",
    },
  ]);
  const { card_holder_id } = await service.createCardholder(input.cardholder);
  const { outcome } = await waiting.awaitVerification({ card_holder_id, ...pace() });
  if (outcome !== "verified") throw ApplicationFailure.nonRetryable(`the check ended: ${outcome}`);
  const { balance_id } = await service.retrieveBalance({ currency });
  const { isEnough } = await service.checkFunds({ amount: card_limit, currency });
  if (!isEnough) throw ApplicationFailure.nonRetryable("not enough funds");
  const unique_request_id = workflowInfo().workflowId;
  const issued = await service.createCard({
    card_holder_id,
    balance_id,
    product_code,
    card_limit,
    unique_request_id,
  });
  const card = await service.confirmCard({ card: issued, unique_request_id });
  return {
    card_holder_id,
    card_id: card.card_id,
    card_status: card.card_status ?? null,
    balance_id,
    card_limit,
  };
}
