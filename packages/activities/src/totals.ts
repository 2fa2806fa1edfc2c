import { formatAmount } from "@durable-payments/api-core/decimal";
import * as BigDecimal from "effect/BigDecimal";

/** Exact sums by currency, written as amounts are: `12.50`. */
export class Totals {
  readonly #sums = new Map<string, BigDecimal.BigDecimal>();

  add(currency: string, amount: string): void {
    const sum = this.#sums.get(currency) ?? BigDecimal.fromBigInt(0n);
    this.#sums.set(currency, BigDecimal.sum(sum, BigDecimal.fromStringUnsafe(amount)));
  }

  subtract(currency: string, amount: string): void {
    const sum = this.#sums.get(currency) ?? BigDecimal.fromBigInt(0n);
    this.#sums.set(currency, BigDecimal.subtract(sum, BigDecimal.fromStringUnsafe(amount)));
  }

  /** In the order of the currencies' names. */
  get amounts(): Readonly<Record<string, string>> {
    const sorted = [...this.#sums].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(
      sorted.map(([currency, sum]) => [currency, formatAmount(sum, currency)]),
    );
  }
}
