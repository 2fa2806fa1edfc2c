import { iso4217Digits } from "@durable-payments/api-core/contract";
import { BigDecimal, Option, Result } from "effect";
import { refuse } from "../service/refuse.ts";

/** A decimal amount with the digits of its currency: `100` USD is `100.00`. */
export const format = (amount: BigDecimal.BigDecimal, currency: string): string => {
  const digits = iso4217Digits(currency);
  const { value } = BigDecimal.scale(amount, digits);
  const sign = value < 0n ? "-" : "";
  const text = String(value < 0n ? -value : value).padStart(digits + 1, "0");
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
};

/** Reads an amount of `currency`; fails with what is wrong with it. */
export const readAmount = (
  text: string,
  currency: string,
): Result.Result<BigDecimal.BigDecimal, string> => {
  const amount = Option.getOrUndefined(BigDecimal.fromString(text));
  if (amount === undefined || !BigDecimal.isPositive(amount)) {
    return Result.fail("must be a decimal amount above zero, such as 100.00");
  }
  const digits = iso4217Digits(currency);
  return BigDecimal.normalize(amount).scale > digits
    ? Result.fail(`${currency} has at most ${digits} digits after the point`)
    : Result.succeed(amount);
};

/** Reads an amount of a request; a wrong one is refused. */
export const parse = (field: string, text: string, currency: string): BigDecimal.BigDecimal =>
  Result.getOrElse(readAmount(text, currency), (problem) => refuse(`${field}: ${problem}`));
