import { type BigDecimal, equals, format, fromStringUnsafe, sumAll } from "effect/BigDecimal";

const AMOUNT = /^-?\d+(\.\d{1,8})?$/;

/** Whether a text is an amount in plain digits: no grouping, no exponent, eight decimals at most. */
const isAmount = (text: string): boolean => AMOUNT.test(text);

/**
 * Parse an amount exactly.
 *
 * @throws Error where the text is no amount.
 */
export const parseAmount = (text: string): BigDecimal => {
  if (!isAmount(text)) throw new Error(`"${text}" is no amount`);
  return fromStringUnsafe(text);
};

/** Check whether two amounts are the same number, however they are written. */
export const isSameAmount = (one: string, other: string): boolean =>
  equals(parseAmount(one), parseAmount(other));

/** Sum amounts exactly. */
export const sumAmounts = (amounts: Iterable<string>): BigDecimal =>
  sumAll([...amounts].map(parseAmount));

/** Write an amount with two digits after the point, or as many as it has. */
export const formatAmount = (amount: BigDecimal): string => {
  const [whole = "", fraction = ""] = format(amount).split(".");
  return `${whole}.${fraction.padEnd(2, "0")}`;
};
