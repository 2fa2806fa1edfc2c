import type { Input } from "@durable-payments/client/effect";
import { formatAmount, iso4217Digits } from "@durable-payments/client/decimal";
import { BigDecimal, Option } from "effect";
import { createHash, randomUUID } from "node:crypto";
import type { RecordOf } from "./records.ts";
import { refuse, type Unit } from "./unit.ts";

/** Longer texts are not amounts, and would take minutes to calculate with. */
const LONGEST_AMOUNT = 40;

/** Zero, in any currency. */
export const ZERO = BigDecimal.fromBigInt(0n);

/** The holder of the simulated account. */
export const ACCOUNT_NAME = "Simulated Account Ltd";

/** Reads an amount of `currency`; an invalid one is refused. */
export const parseAmount = (field: string, text: string, currency: string) => {
  const amount =
    text.length > LONGEST_AMOUNT ? undefined : Option.getOrUndefined(BigDecimal.fromString(text));
  if (amount === undefined || !BigDecimal.isPositive(amount)) {
    return refuse(`${field}: must be a decimal amount above zero, such as 100.00`);
  }
  const digits = iso4217Digits(currency);
  return BigDecimal.normalize(amount).scale > digits
    ? refuse(`${field}: ${currency} has at most ${digits} digits after the point`)
    : amount;
};

/** The balance in that currency; a missing one is refused. */
const balanceOf = (unit: Unit, currency: string): RecordOf<"balances"> =>
  unit.get("balances", currency) ?? refuse(`There is no ${currency} balance`);

/** Opens an empty balance; a second one of the same currency is refused. */
export const createBalance = (
  unit: Unit,
  { currency, name }: { readonly currency: string; readonly name: string },
): undefined => {
  if (unit.get("balances", currency) !== undefined) refuse(`A ${currency} balance already exists`);
  const balance_id = randomUUID();
  const available_balance = formatAmount(ZERO, currency);
  unit.put("balances", currency, { balance_id, currency, name, available_balance });
};

/** Returns the content of a balance. */
export const retrieveBalance = (unit: Unit, { currency }: Input<"retrieveBalance">) => {
  const { name: _, ...balance } = balanceOf(unit, currency);
  return balance;
};

/** Ten digits that stay the same for the same balance. */
const accountNumber = (balanceId: string): string =>
  String(createHash("sha256").update(balanceId).digest().readUIntBE(0, 6)).slice(-10);

/** Returns the bank accounts to which a balance is funded. */
export const retrieveBalanceBankDetails = (
  unit: Unit,
  { currency }: Input<"retrieveBalanceBankDetails">,
) => {
  const { balance_id } = balanceOf(unit, currency);
  const account = {
    account_bank_id: `bank-${balance_id}`,
    account_id: balance_id,
    account_holder: ACCOUNT_NAME,
    account_number: accountNumber(balance_id),
    bank_name: "Simulated Bank",
    bank_code: "SIMUUS33",
    bank_address: "1 Localhost Square, New York",
    country_code: "US",
    currency_code: currency,
    payment_reference: `SIM-${balance_id.slice(0, 8).toUpperCase()}`,
  };
  const local = { ...account, clearing_system_type: "US-ACH", clearing_system_code: "ACH" };
  const swift = { ...account, clearing_system_type: "Bank", clearing_system_code: "SWIFT" };
  return { local: currency === "USD" ? [local] : [], swift: [swift], status: "opened" };
};

/** One movement of money on a balance, and the order that it belongs to. */
interface Movement {
  readonly currency: string;
  /** Above zero: into the balance; below: out of it. */
  readonly amount: BigDecimal.BigDecimal;
  readonly type: "deposit" | "payout" | "card charge" | "transfer";
  readonly status?: "pending";
  readonly reference_id: string;
  readonly short_reference_id?: string;
}

/** Adds to a balance, or takes from it; more than it holds is refused. */
export const adjustBalance = (unit: Unit, currency: string, amount: BigDecimal.BigDecimal) => {
  const balance = balanceOf(unit, currency);
  const after = BigDecimal.sum(BigDecimal.fromStringUnsafe(balance.available_balance), amount);
  if (BigDecimal.isNegative(after)) refuse("Insufficient balance");
  unit.put("balances", currency, { ...balance, available_balance: formatAmount(after, currency) });
};

/** Moves money on a balance and records the transaction, whose id it returns. */
export const move = (unit: Unit, movement: Movement): string => {
  const { amount, currency, reference_id, short_reference_id = "", status, type } = movement;
  adjustBalance(unit, currency, amount);
  const transaction_id = randomUUID();
  unit.put("transactions", transaction_id, {
    transaction_id,
    transaction_type: type,
    transaction_status: status ?? "completed",
    currency,
    amount: formatAmount(BigDecimal.abs(amount), currency),
    reference_id,
    short_reference_id,
    create_time: unit.time,
    ...(status === undefined ? { complete_time: unit.time } : {}),
  });
  return transaction_id;
};

/** Pays into a balance from outside. */
export const fund = (unit: Unit, currency: string, amount: string): void => {
  const { balance_id } = balanceOf(unit, currency);
  const paidIn = parseAmount("amount", amount, currency);
  move(unit, { currency, amount: paidIn, type: "deposit", reference_id: balance_id });
};
