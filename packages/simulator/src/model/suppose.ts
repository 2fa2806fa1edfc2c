import { formatAmount } from "@durable-payments/client/decimal";
import { BigDecimal } from "effect";
import { randomUUID } from "node:crypto";
import type { Unit } from "./unit.ts";

/** Enough for everything that a preview sends. */
const ENOUGH = BigDecimal.fromBigInt(10n ** 15n);

/** The words for an object that the service is still working on. */
const OPEN: ReadonlySet<string> = new Set(["processing", "PENDING"]);

/**
 * Supposes that the service has the objects that a request or an answer names, as it was last seen to have them: the payee
 * of `beneficiary_id`, the holder of `card_holder_id`, the card of `card_id`, the payout of `payout_id`, and a balance of
 * `currency`. Known objects stay, except for a status that the fields name. An open payout or check ends in time.
 */
export const suppose = (unit: Unit, fields: Readonly<Record<string, unknown>>): void => {
  const { behaviour, now, time } = unit;
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === "string" ? value : "";
  };
  const [currency, amount] = [text("currency") || "USD", text("amount")];
  const times = { create_time: time, update_time: time };
  const dueAt = (status: string, after: number | undefined) =>
    OPEN.has(status) && after !== undefined ? { due_at: now + after } : {};
  const balance = unit.get("balances", currency);
  const balance_id = text("balance_id") || (balance?.balance_id ?? randomUUID());
  if (balance?.balance_id !== balance_id) {
    const available_balance = formatAmount(ENOUGH, currency);
    unit.put("balances", currency, { balance_id, currency, name: currency, available_balance });
  }
  const payer_id = text("payer_id");
  if (payer_id !== "" && unit.get("payers", payer_id) === undefined)
    unit.put("payers", payer_id, { payer_id, details: {} });
  const beneficiary_id = text("beneficiary_id");
  // An answer names no currency: the account has that of the first request that pays it.
  const known = unit.get("beneficiaries", beneficiary_id)?.details["account_currency"];
  if (beneficiary_id !== "" && (known ?? "") === "") {
    const details = { account_currency: text("currency") };
    const is = { beneficiary_status: "active", details };
    unit.put("beneficiaries", beneficiary_id, { beneficiary_id, ...is, ...times });
  }
  const card_holder_id = text("card_holder_id");
  const holder = unit.get("cardholders", card_holder_id);
  const checked = text("card_holder_status");
  if (card_holder_id !== "" && (holder === undefined || checked !== "")) {
    const nobody = { email: "", first_name: "", last_name: "", date_birth: "", phone_number: "" };
    const card_holder_status = checked || "SUCCESS";
    const due = dueAt(card_holder_status, behaviour.verifyAfter);
    const is = { ...nobody, ...times, removed: false, ...holder, card_holder_id };
    unit.put("cardholders", card_holder_id, { ...is, card_holder_status, ...due });
  }
  const [card_id, unique_request_id] = [text("card_id"), text("unique_request_id")];
  if (card_id !== "" && unit.get("cards", card_id) === undefined) {
    const money = { card_limit: amount, available_balance: formatAmount(ENOUGH, currency) };
    const own = { card_number: text("card_number"), card_name: "", product_code: "" };
    const of = { card_id, card_holder_id, balance_id, unique_request_id };
    unit.put("cards", card_id, { ...own, ...of, ...money, ...times, card_status: "active" });
  }
  const payout_id = text("payout_id");
  const payout = unit.get("payouts", payout_id);
  const word = text("payout_status");
  if (payout_id !== "" && (payout === undefined || word !== "")) {
    const payout_status = word || "processing";
    const names = { payout_reason: "", payout_reference: "", payment_date: "", payer_id };
    const of = { currency, amount, fee_amount: "0", beneficiary_id, beneficiary_name: "" };
    const own = { short_reference: text("short_reference"), transaction_id: "", returned: false };
    const is = { ...names, ...of, ...own, ...times, ...payout, payout_id, payout_status };
    unit.put("payouts", payout_id, { ...is, ...dueAt(payout_status, behaviour.settleAfter) });
  }
};
