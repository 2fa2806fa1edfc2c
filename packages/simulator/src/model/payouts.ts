import { formatAmount } from "@durable-payments/client/decimal";
import type {
  CreatePayoutInput,
  Input,
  ListPayoutsInput,
  Payout,
} from "@durable-payments/client/effect";
import { BigDecimal } from "effect";
import { hash, randomUUID } from "node:crypto";
import { payoutFromBefore, payoutsFromBefore } from "./backlog.ts";
import { fits, isWithin, pageOf } from "./lists.ts";
import { adjustBalance, move, parseAmount, ZERO } from "./money.ts";
import { beneficiaryName, beneficiaryOf, payerOf } from "./payees.ts";
import type { RecordOf } from "./records.ts";
import { refuse, type Unit } from "./unit.ts";

type PayoutRecord = RecordOf<"payouts">;

const payoutOf = (unit: Unit, id: string): PayoutRecord =>
  unit.get("payouts", id) ??
  payoutFromBefore(unit.behaviour.backlog, id) ??
  refuse("Payout not found");

/** The fields of a payout that all three shapes of the service have. */
const view = ({ behaviour }: Unit, record: PayoutRecord): Payout => {
  const { due_at: _, returned: __, transaction_id: ___, unique_request_id, ...payout } = record;
  const { payoutKeys } = behaviour;
  const key = payoutKeys === "replaced" ? `own-${record.short_reference}` : unique_request_id;
  return {
    ...payout,
    fee_paid_by: "shared",
    ...(key === undefined || payoutKeys === "dropped" ? {} : { unique_request_id: key }),
  };
};

const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/** A short reference as the service writes it, such as `P250131-7KQ2M9XA`. */
const shortReference = ({ time }: Unit): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  const letters = Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]);
  return `P${time.slice(2, 10).replaceAll("-", "")}-${letters.join("")}`;
};

/** Takes the money from the balance, and returns a payout that is processing. */
export const createPayout = (unit: Unit, request: CreatePayoutInput): Payout => {
  const { currency, unique_request_id } = request;
  const beneficiary = beneficiaryOf(unit, request.beneficiary_id);
  if (beneficiary.details["account_currency"] !== currency) {
    refuse("Payer and beneficiary currency must be the same");
  }
  const amount = parseAmount("amount", request.amount, currency);
  const payout_id = randomUUID();
  const short_reference = shortReference(unit);
  const { settleAfter } = unit.behaviour;
  const record: PayoutRecord = {
    payout_id,
    short_reference,
    payout_status: "processing",
    currency,
    amount: formatAmount(amount, currency),
    fee_amount: formatAmount(ZERO, currency),
    beneficiary_id: beneficiary.beneficiary_id,
    beneficiary_name: beneficiaryName(beneficiary),
    payer_id: payerOf(unit, request),
    payout_reason: request.payout_reason,
    payout_reference: request.payout_reference ?? "",
    payment_date: request.payment_date,
    ...(unique_request_id === undefined ? {} : { unique_request_id }),
    transaction_id: move(unit, {
      currency,
      amount: BigDecimal.negate(amount),
      type: "payout",
      status: "pending",
      reference_id: payout_id,
      short_reference_id: short_reference,
    }),
    returned: false,
    create_time: unit.time,
    update_time: unit.time,
    ...(settleAfter === undefined ? {} : { due_at: unit.now + settleAfter }),
  };
  unit.put("payouts", payout_id, record);
  const { beneficiary_name: _, fee_amount: __, fee_paid_by: ___, ...shown } = view(unit, record);
  // The response to a creation has the payment date as a timestamp.
  return { ...shown, payment_date: `${record.payment_date}T00:00:00Z` };
};

/** Returns one payout. */
export const retrievePayout = (unit: Unit, { payout_id }: Input<"retrievePayout">): Payout => {
  const { beneficiary_name: _, ...shown } = view(unit, payoutOf(unit, payout_id));
  return shown;
};

/** Lists payouts. */
export const listPayouts = (unit: Unit, query: ListPayoutsInput) => {
  const matches = (payout: PayoutRecord) =>
    query.scope !== "clients_account" &&
    fits(query.short_reference_id, payout.short_reference) &&
    fits<string>(query.status, payout.payout_status) &&
    isWithin(query.date_type === "settle_time" ? payout.complete_time : payout.create_time, query);
  const shown = (record: PayoutRecord) => {
    const { payer_id: _, ...fields } = view(unit, record);
    return fields;
  };
  const before = payoutsFromBefore(unit.behaviour.backlog, unit.now, query);
  return pageOf(unit, unit.all("payouts").filter(matches), query, shown, before);
};

const COMPLETED = "completed";
const FAILED = "failed";
/** The status of a payout whose money came back after it had completed. */
const REVERSED = "reversed";

const UNPAID = new Set([FAILED, REVERSED, "rejected", "cancelled", "canceled", "returned"]);

/** The statuses for which the document says whether they show a completion time. */
const OWN_WORDS: ReadonlySet<string> = new Set([...UNPAID, "processing", "awaiting_funds"]);

/** A number from 0 to 1, the same for the same payment. */
const drawOf = ({ amount, payout_reason, payout_reference }: PayoutRecord): number =>
  Number.parseInt(
    hash("sha256", `${payout_reason} ${payout_reference} ${amount}`).slice(0, 8),
    16,
  ) / 0xffffffff;

/** When a payout that completes now comes back: one of the drawn share, or one with such a reference. */
const comesBackAt = ({ behaviour, now }: Unit, record: PayoutRecord) => {
  const { afterMs = 0, share = 0 } = behaviour.returns ?? {};
  const isDrawn = drawOf(record) < share || record.payout_reference.startsWith("RETURN");
  return isDrawn ? { due_at: now + afterMs } : {};
};

/**
 * Gives a payout a status. `completed` sets its completion time; a status that ends it unpaid returns the money
 * once. Returned money is not sent again.
 */
export const setPayoutStatus = (unit: Unit, id: string, status: string): void => {
  const { complete_time, due_at: _, ...record } = payoutOf(unit, id);
  const returned = UNPAID.has(status.toLowerCase());
  const isCompleted = status.toLowerCase() === COMPLETED;
  if (record.returned && !returned) refuse("The money of this payout was returned");
  if (returned && !record.returned) {
    adjustBalance(unit, record.currency, BigDecimal.fromStringUnsafe(record.amount));
  }
  // A reversed payout did complete once, and so did a payout in a status of the service's own.
  const keepsTime = isCompleted || status === REVERSED || !OWN_WORDS.has(status.toLowerCase());
  const completedAt = complete_time ?? (isCompleted ? unit.time : undefined);
  const time = keepsTime && completedAt !== undefined ? { complete_time: completedAt } : {};
  const changed = {
    ...record,
    ...time,
    ...(isCompleted && comesBackAt(unit, record)),
    payout_status: status,
    returned,
    update_time: unit.time,
  };
  unit.put("payouts", id, changed);
  const transaction = unit.get("transactions", record.transaction_id);
  if (transaction === undefined) return;
  const { complete_time: __, ...open } = transaction;
  const transaction_status = returned ? "failed" : isCompleted ? "completed" : "pending";
  unit.put("transactions", record.transaction_id, { ...open, ...time, transaction_status });
};

/**
 * Does a payout's next step when its time has come: it completes, or fails if its reference begins with `FAIL`; a
 * completed one comes back.
 */
export const settlePayout = (unit: Unit, id: string): void => {
  const { payout_reference, payout_status } = payoutOf(unit, id);
  const { status = REVERSED } = unit.behaviour.returns ?? {};
  const end = payout_reference.startsWith("FAIL") ? FAILED : COMPLETED;
  setPayoutStatus(unit, id, payout_status.toLowerCase() === COMPLETED ? status : end);
};
