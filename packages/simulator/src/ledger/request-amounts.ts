import { iso4217Digits } from "@durable-payments/api-core/decimal";
import { BigDecimal, Option, Result } from "effect";
import { refuse } from "../service/refuse.ts";

/** Longer ones are no amounts, and their digits would be reckoned with for minutes. */
const LONGEST_AMOUNT = 40;

/** Reads an amount of `currency`; fails with what is wrong with it. */
export const readAmount = (
  text: string,
  currency: string,
): Result.Result<BigDecimal.BigDecimal, string> => {
  const amount =
    text.length > LONGEST_AMOUNT ? undefined : Option.getOrUndefined(BigDecimal.fromString(text));
  if (amount === undefined || !BigDecimal.isPositive(amount)) {
    return Result.fail("must be a decimal amount above zero, such as 100.00");
  }
  const digits = iso4217Digits(currency);
  return BigDecimal.normalize(amount).scale > digits
    ? Result.fail(`${currency} has at most ${digits} digits after the point`)
    : Result.succeed(amount);
};

/** Reads an amount of a request; a wrong one is refused. */
export const parseAmount = (field: string, text: string, currency: string): BigDecimal.BigDecimal =>
  Result.getOrElse(readAmount(text, currency), (problem) => refuse(`${field}: ${problem}`));
