import { formatAmount } from "@durable-payments/api-core/decimal";
import * as BigDecimal from "effect/BigDecimal";

/**
 * Adds amounts exactly, by currency.
 *
 * @returns decimal strings as amounts are written, in the order of the currencies' names.
 */
export const totalsOf = (
  payments: Iterable<{ readonly amount: string; readonly currency: string }>,
): Readonly<Record<string, string>> => {
  const sums = new Map<string, BigDecimal.BigDecimal>();
  for (const { amount, currency } of payments) {
    const sum = sums.get(currency) ?? BigDecimal.fromBigInt(0n);
    sums.set(currency, BigDecimal.sum(sum, BigDecimal.fromStringUnsafe(amount)));
  }
  const sorted = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    sorted.map(([currency, sum]) => [currency, formatAmount(sum, currency)]),
  );
};
