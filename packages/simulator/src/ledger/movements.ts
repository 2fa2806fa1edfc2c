import { formatAmount } from "@durable-payments/api-core/decimal";
import { BigDecimal } from "effect";
import { randomUUID } from "node:crypto";
import { refuse } from "../service/refuse.ts";
import type { Unit } from "./ledger-store.ts";

const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/** A short reference as the service writes it, such as `P250131-7KQ2M9XA`. */
export const shortReference = (unit: Unit): string => {
  const day = unit.time.slice(2, 10).replaceAll("-", "");
  const letters = Array.from(
    crypto.getRandomValues(new Uint8Array(8)),
    (byte) => LETTERS[byte % LETTERS.length],
  );
  return `P${day}-${letters.join("")}`;
};

/** One movement of money on a balance, and the order that it belongs to. */
export interface Movement {
  readonly currency: string;
  /** Above zero: into the balance; below: out of it. */
  readonly amount: BigDecimal.BigDecimal;
  readonly type: "deposit" | "payout" | "card charge" | "transfer";
  readonly status: "pending" | "completed";
  readonly reference_id: string;
  readonly short_reference_id: string;
}

/** Adds to a balance, or takes from it. */
export const adjustBalance = (unit: Unit, currency: string, amount: BigDecimal.BigDecimal) => {
  const balance = unit.get("balances", currency) ?? refuse(`There is no ${currency} balance`);
  const after = BigDecimal.sum(BigDecimal.fromStringUnsafe(balance.available_balance), amount);
  if (BigDecimal.isNegative(after)) refuse("Insufficient balance");
  unit.put("balances", currency, { ...balance, available_balance: formatAmount(after, currency) });
};

/** Moves money on a balance and writes the transaction, whose id it returns. */
export const move = (unit: Unit, movement: Movement): string => {
  const { amount, currency, reference_id, short_reference_id, status, type } = movement;
  adjustBalance(unit, currency, amount);
  const transaction_id = randomUUID();
  unit.put("transactions", transaction_id, {
    transaction_id,
    transaction_type: type,
    transaction_status: status,
    currency,
    amount: formatAmount(BigDecimal.abs(amount), currency),
    reference_id,
    short_reference_id,
    create_time: unit.time,
    ...(status === "completed" ? { complete_time: unit.time } : {}),
  });
  return transaction_id;
};
