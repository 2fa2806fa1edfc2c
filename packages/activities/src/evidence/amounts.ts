import * as BigDecimal from "effect/BigDecimal";
import { canonicalDecimal } from "@durable-payments/client/values";
import { remembered } from "./remembered.ts";

/** An amount in its one canonical form; undefined if it is not a plain decimal. */
export const canonicalAmount = remembered(canonicalDecimal);

/** A decimal of digits before and after a point, in its canonical form. */
const decimalOf = (whole: string, fraction: string): string =>
  canonicalDecimal(`${whole || "0"}.${fraction || "0"}`) ?? "0";

/**
 * Returns every number that a text may mean; `1.000` is one, or a thousand.
 *
 * @param text an amount as the service shows it: grouped, with a currency, with a decimal comma
 * @returns canonical decimals, the one without a point first; none if it is not an amount
 */
export const readingsOf = remembered((text): ReadonlyArray<string> => {
  const number = text
    .normalize("NFKC")
    .replaceAll(/[\s'’_]/gu, "")
    .replace(/^[^\d.,]+/, "")
    .replace(/[^\d]+$/, "");
  if (!/^[\d.,]*\d$/.test(number)) return [];
  const grouped = decimalOf(number.replaceAll(/[.,]/g, ""), "");
  const point = Math.max(number.lastIndexOf("."), number.lastIndexOf(","));
  if (point === -1 || number.indexOf(number.charAt(point)) !== point) return [grouped];
  return [
    grouped,
    decimalOf(number.slice(0, point).replaceAll(/[.,]/g, ""), number.slice(point + 1)),
  ];
});

/** Digits in groups of three with one separator, also the ambiguous `1.000`. */
const GROUPED = /^\d{1,3}([.,])\d{3}(?:\1\d{3})*$/;

/** Every number that a written amount may mean; 5.00 is not 50.00 in another unit. */
const amountsOf = remembered((text): ReadonlyArray<string> => {
  const readings = readingsOf(text);
  const plain = text.replaceAll(/[^\d.,]/g, "");
  return readings.length === 1 || GROUPED.test(plain) ? readings : readings.slice(1);
});

/** Digits that a double always keeps: further ones may come from a binary fraction. */
const EXACT_DIGITS = 15;

const isSameAmount = (sent: string, shown: string): boolean =>
  sent === shown ||
  (shown.replace(".", "").length > EXACT_DIGITS &&
    Number(shown).toPrecision(EXACT_DIGITS) === Number(sent).toPrecision(EXACT_DIGITS));

const exact = remembered(BigDecimal.fromStringUnsafe);

const isApartBy = (a: string, b: string, fee: string): boolean =>
  BigDecimal.equals(BigDecimal.abs(BigDecimal.subtract(exact(a), exact(b))), exact(fee));

/**
 * Compares an amount that was sent with the shown one, exactly. The number of digits and their grouping do not matter.
 * No payment is zero, so a zero proves nothing.
 *
 * @param sent a plain decimal string
 * @param shown the service's own text
 * @param fee that the service shows, which the amount may include or omit
 * @returns whether it is legibly a different amount
 */
export const isOtherAmount = (sent: string, shown: string, fee: string): boolean => {
  const wanted = canonicalAmount(sent);
  const amounts = amountsOf(shown);
  if (wanted === undefined || amounts.every((amount) => Number(amount) === 0)) return false;
  return !amounts.some(
    (amount) =>
      isSameAmount(wanted, amount) || amountsOf(fee).some((one) => isApartBy(amount, wanted, one)),
  );
};

const COMMAS = /^\d{1,3}(,\d{3})+(\.\d+)?$/;
const MARKS = /^\d{1,3}([ \u00a0\u2009\u202f'’_]\d{3})+(\.\d+)?$/;
const POINTS = /^\d{1,3}(\.\d{3})+,\d+$|^\d{1,3}(\.\d{3}){2,}$/;

/**
 * Returns an amount of the service, which may be grouped: `4,983,830.57`, `4.983.830,57`,
 * `4'983'830.57`.
 *
 * @param shown the service's own text
 * @returns the decimal without groups; any other text unchanged.
 */
export const withoutGroups = (shown: string): string => {
  const text = shown.trim();
  if (COMMAS.test(text)) return text.replaceAll(",", "");
  if (MARKS.test(text)) return text.replaceAll(/[^\d.]/g, "");
  return POINTS.test(text) ? text.replaceAll(".", "").replace(",", ".") : text;
};
