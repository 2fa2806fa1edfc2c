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

const COMMAS = /^\d{1,3}(,\d{3})+(\.\d+)?$/;
const MARKS = /^\d{1,3}([ \u00a0\u2009\u202f'’_]\d{3})+(\.\d+)?$/;
const POINTS = /^\d{1,3}(\.\d{3})+,\d+$|^\d{1,3}(\.\d{3}){2,}$/;

/**
 * Reads an amount that the service shows, which may be grouped: `4,983,830.57`, `4.983.830,57`,
 * `4'983'830.57`.
 *
 * @returns the decimal without groups; the text as it is where it is written in no such way.
 */
export const withoutGroups = (shown: string): string => {
  const text = shown.trim();
  if (COMMAS.test(text)) return text.replaceAll(",", "");
  if (MARKS.test(text)) return text.replaceAll(/[^\d.]/g, "");
  return POINTS.test(text) ? text.replaceAll(".", "").replace(",", ".") : text;
};
