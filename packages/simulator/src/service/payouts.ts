import { formatAmount } from "@durable-payments/api-core/decimal";
import type { Payout } from "@durable-payments/api-core";
import { BigDecimal, Effect } from "effect";
import { HttpApiBuilder } from "effect/http-api";
import { randomUUID } from "node:crypto";
import { LedgerStore, type Unit } from "../ledger/ledger-store.ts";
import { parseAmount } from "../ledger/request-amounts.ts";
import { adjustBalance, move, shortReference } from "../ledger/movements.ts";
import type { RecordOf } from "../ledger/records.ts";
import { Settings, type SettingsShape } from "../settings.ts";
import {
  TemperamentInForce,
  type TemperamentInForceShape,
} from "../temperament/temperaments-in-force.ts";
import { beneficiaryName, beneficiaryOf } from "./beneficiaries.ts";
import { isWithin, pageOf } from "./pages.ts";
import { payerOf } from "./payers.ts";
import { refuse } from "./refuse.ts";
import { SimulatedApi } from "./simulated-api.ts";

type PayoutRecord = RecordOf<"payouts">;

const payoutOf = (unit: Unit, id: string): PayoutRecord =>
  unit.get("payouts", id) ?? refuse("Payout not found");

const view = (record: PayoutRecord): Payout => {
  const { due_at: _, returned: __, transaction_id: ___, ...payout } = record;
  return { ...payout, fee_paid_by: "shared" };
};

/** The body of createPayout, as far as the ledger reads it by name. */
interface PayoutRequest extends Readonly<Record<string, string>> {
  readonly currency: string;
  readonly amount: string;
  readonly payout_reason: string;
  readonly payment_date: string;
  readonly beneficiary_id: string;
}

const create = (unit: Unit, request: PayoutRequest, settings: SettingsShape) => {
  const { currency } = request;
  const beneficiary = beneficiaryOf(unit, request.beneficiary_id);
  if (beneficiary.details["account_currency"] !== currency) {
    refuse("Payer and beneficiary currency must be the same");
  }
  const amount = parseAmount("amount", request.amount, currency);
  const payout_id = randomUUID();
  const short_reference = shortReference(unit);
  const { unique_request_id } = request;
  const record: PayoutRecord = {
    payout_id,
    short_reference,
    payout_status: "processing",
    currency,
    amount: formatAmount(amount, currency),
    fee_amount: formatAmount(BigDecimal.fromBigInt(0n), currency),
    beneficiary_id: beneficiary.beneficiary_id,
    beneficiary_name: beneficiaryName(beneficiary),
    payer_id: payerOf(unit, request),
    payout_reason: request.payout_reason,
    payout_reference: request["payout_reference"] ?? "",
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
    ...(settings.settleAfter === undefined ? {} : { due_at: unit.now + settings.settleAfter }),
  };
  unit.put("payouts", payout_id, record);
  // The answer to a creation writes the payment date as a timestamp.
  return { ...view(record), payment_date: `${record.payment_date}T00:00:00Z` };
};

/** The status of a payout whose money came back after it had completed. */
const REVERSED = "reversed";

const isOneOf = (statuses: ReadonlyArray<string>, status: string) =>
  statuses.some((one) => one.toLowerCase() === status.toLowerCase());

/** The statuses in which payouts end by themselves: the first ones of those that are assumed. */
const finalStatuses = ({ assumptions }: SettingsShape) => ({
  completed: assumptions.payoutCompletedStatuses[0] ?? "completed",
  failed: assumptions.payoutFailedStatuses[0] ?? "failed",
});

/**
 * Gives a payout a status. One that is assumed to complete it sets its completion time; one that is
 * assumed to end it unpaid gives the money back, once. What went back cannot be sent again.
 */
export const setPayoutStatus = (
  unit: Unit,
  id: string,
  status: string,
  settings: SettingsShape,
): void => {
  const { assumptions } = settings;
  const { complete_time, due_at: _, ...record } = payoutOf(unit, id);
  const failed = isOneOf(
    [finalStatuses(settings).failed, REVERSED, ...assumptions.payoutFailedStatuses],
    status,
  );
  const completed = isOneOf(
    [finalStatuses(settings).completed, ...assumptions.payoutCompletedStatuses],
    status,
  );
  if (record.returned && !failed) refuse("The money of this payout was returned");
  if (failed && !record.returned) {
    adjustBalance(unit, record.currency, BigDecimal.fromStringUnsafe(record.amount));
  }
  const time = completed
    ? { complete_time: complete_time ?? unit.time }
    : // It did complete once.
      status === REVERSED && complete_time !== undefined
      ? { complete_time }
      : {};
  unit.put("payouts", id, {
    ...record,
    ...time,
    payout_status: status,
    returned: failed,
    update_time: unit.time,
  });
  const transaction = unit.get("transactions", record.transaction_id);
  if (transaction !== undefined) {
    const { complete_time: _, ...open } = transaction;
    unit.put("transactions", record.transaction_id, {
      ...open,
      ...time,
      transaction_status: failed ? "failed" : completed ? "completed" : "pending",
    });
  }
};

/**
 * What happens to a payout when its time has come: it completes, or fails where its reference says
 * so; one that completed is reversed where the temperament has it so.
 */
export const settlePayout = (
  unit: Unit,
  id: string,
  settings: SettingsShape,
  { current, lot }: TemperamentInForceShape,
): void => {
  const { complete_time, payout_reference } = payoutOf(unit, id);
  if (complete_time !== undefined) return setPayoutStatus(unit, id, REVERSED, settings);
  const { completed, failed } = finalStatuses(settings);
  if (payout_reference.startsWith("FAIL")) return setPayoutStatus(unit, id, failed, settings);
  setPayoutStatus(unit, id, completed, settings);
  const { reversals } = current();
  if (reversals !== undefined && lot("reversal", id) < reversals.share) {
    unit.put("payouts", id, { ...payoutOf(unit, id), due_at: unit.now + reversals.afterMs });
  }
};

interface Filters {
  readonly date_type?: "settle_time" | "create_time";
  readonly scope?: string;
  readonly short_reference_id?: string;
  readonly status?: string;
  readonly start?: number;
  readonly end?: number;
}

const matches =
  (temperament: TemperamentInForceShape, filters: Filters) => (payout: PayoutRecord) =>
    filters.scope !== "clients_account" &&
    (filters.short_reference_id === undefined ||
      payout.short_reference === filters.short_reference_id) &&
    (filters.status === undefined || payout.payout_status === filters.status) &&
    isWithin(
      temperament,
      filters.date_type === "settle_time" ? payout.complete_time : payout.create_time,
      filters,
    );

/** Operations of the group "payouts". */
export const PayoutHandlers = HttpApiBuilder.group(
  SimulatedApi,
  "payouts",
  Effect.fn(function* (handlers) {
    const store = yield* LedgerStore;
    const settings = yield* Settings;
    const temperament = yield* TemperamentInForce;
    return handlers.handleAll({
      createPayout: ({ payload }) => store.transact((unit) => create(unit, payload, settings)),
      listPayouts: ({ query }) =>
        store.transact((unit) =>
          pageOf(
            temperament,
            unit,
            unit.all("payouts").filter(matches(temperament, query)),
            query,
            { idOf: ({ payout_id }) => payout_id, view },
          ),
        ),
      retrievePayout: ({ params }) =>
        store.transact((unit) => view(payoutOf(unit, params.payout_id))),
    });
  }),
);
