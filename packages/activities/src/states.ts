import type { Assumptions, Card, Cardholder, Payout } from "@durable-payments/api-core";

const isOneOf = (statuses: ReadonlyArray<string>, status: string | undefined): boolean =>
  statuses.some((listed) => listed.toLowerCase() === status?.toLowerCase());

/** Whether a payout has ended: failed by its status, completed by its status or completion time. */
export const payoutState = (
  { complete_time, payout_status }: Payout,
  { payoutCompletedStatuses, payoutFailedStatuses }: Assumptions,
): "open" | "completed" | "failed" => {
  if (isOneOf(payoutFailedStatuses, payout_status)) return "failed";
  return complete_time !== undefined || isOneOf(payoutCompletedStatuses, payout_status)
    ? "completed"
    : "open";
};

/** Whether a cardholder's identity check has ended, and how. */
export const cardholderState = (
  { card_holder_status }: Cardholder,
  assumptions: Assumptions,
): "open" | "verified" | "refused" | "incomplete" => {
  if (isOneOf(assumptions.cardholderVerifiedStatuses, card_holder_status)) return "verified";
  if (isOneOf(assumptions.cardholderRefusedStatuses, card_holder_status)) return "refused";
  return isOneOf(assumptions.cardholderIncompleteStatuses, card_holder_status)
    ? "incomplete"
    : "open";
};

/** Whether a card that was answered was issued: refused only by a status that says so. */
export const isCardRefused = (
  { card_status }: Card,
  { cardRefusedStatuses }: Assumptions,
): boolean => isOneOf(cardRefusedStatuses, card_status);
