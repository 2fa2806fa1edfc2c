import {
  type Assumptions,
  type Cardholder,
  isUnsetTime,
  type Payout,
  readTime,
} from "@durable-payments/api-core";

const plain = (status: string): string => status.trim().toLowerCase();

const isOneOf = (statuses: ReadonlyArray<string>, status = ""): boolean =>
  statuses.some((listed) => plain(listed) === plain(status));

/**
 * Whether a payout's completion time can be one: set, not before its creation and not after now, each
 * by more than the clocks may differ. In every zone nearly any time could be one: while the zone of
 * times without offset is unknown, it is taken for UTC. The service's now is no earlier than the times
 * of creation and change that it shows, whatever its clock or zone are.
 */
const isCompleteAt = (
  { complete_time, create_time, update_time }: Payout,
  { clockSkewSeconds, timeZone }: Assumptions,
  now: number,
): boolean => {
  if (complete_time === undefined || isUnsetTime(complete_time)) return false;
  const zone = { timeZone: timeZone === "unknown" ? "UTC" : timeZone };
  const completed = readTime(complete_time, zone);
  if (completed === undefined) return false;
  const skew = clockSkewSeconds * 1000;
  const created = readTime(create_time, zone);
  const isAfterCreation = created === undefined || completed.latest >= created.earliest - skew;
  const updated = readTime(update_time, zone);
  const serviceNow = Math.max(now, created?.earliest ?? now, updated?.earliest ?? now);
  return isAfterCreation && completed.earliest <= serviceNow + skew;
};

const matches = (pattern: string, status: string): boolean => new RegExp(pattern, "i").test(status);

/**
 * Whether a payout has ended: by its status alone, or by a completion time that can be one together
 * with its status. A status that takes the money back is a failure then, and one that nobody knows
 * leaves it open: nothing is reported as paid that the service may have refused.
 *
 * @param now milliseconds since 1970.
 */
export const payoutState = (
  payout: Payout,
  assumptions: Assumptions,
  now: number = Date.now(),
): "open" | "completed" | "failed" => {
  const { payout_status = "" } = payout;
  if (isOneOf(assumptions.payoutFailedStatuses, payout_status)) return "failed";
  if (isOneOf(assumptions.payoutCompletedStatuses, payout_status)) return "completed";
  if (!isCompleteAt(payout, assumptions, now)) return "open";
  if (matches(assumptions.payoutReturnedStatus, payout_status)) return "failed";
  const isPaid =
    payout_status.trim() === "" || matches(assumptions.payoutPaidStatus, payout_status);
  return assumptions.completeTimeCompletes && isPaid ? "completed" : "open";
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
