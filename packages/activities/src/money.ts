import { BigDecimal, Option } from "effect";

/** Whether `available` is at least `needed`, exactly. What is no decimal is not enough. */
export const isAtLeast = (available: string, needed: string): boolean =>
  Option.getOrElse(
    Option.zipWith(BigDecimal.fromString(available), BigDecimal.fromString(needed), (a, b) =>
      BigDecimal.isGreaterThanOrEqualTo(a, b),
    ),
    () => false,
  );

/** Whether two amounts are the same number, however they are written. */
export const isSameAmount = (a: string, b: string): boolean => isAtLeast(a, b) && isAtLeast(b, a);
