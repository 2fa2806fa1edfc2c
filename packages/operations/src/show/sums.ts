import { formatAmount } from "@durable-payments/api-core/decimal";
import * as BigDecimal from "effect/BigDecimal";
import * as Option from "effect/Option";

/** Amounts by currency: decimal strings in units of the currency. */
export type Money = ReadonlyArray<{ readonly currency: string; readonly amount: string }>;

/**
 * Adds up amounts by currency, exactly. What moves no money, or is no decimal, is left out.
 *
 * @returns the sums above zero, in the order of their currencies' first appearance.
 */
export const sumMoney = (
  amounts: ReadonlyArray<{ readonly amount: string | null; readonly currency: string | null }>,
): Money => {
  const sums = new Map<string, BigDecimal.BigDecimal>();
  for (const { amount, currency } of amounts) {
    const read = BigDecimal.fromString(amount ?? "");
    if (currency === null || amount === null || Option.isNone(read)) continue;
    const before = sums.get(currency);
    sums.set(currency, before === undefined ? read.value : BigDecimal.sum(before, read.value));
  }
  return [...sums]
    .filter(([, sum]) => !BigDecimal.isZero(sum))
    .map(([currency, sum]) => ({ currency, amount: formatAmount(sum, currency) }));
};
