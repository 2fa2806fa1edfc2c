import * as BigDecimal from "effect/BigDecimal";
import { canonicalDecimal } from "@durable-payments/api-core/values";

/** A decimal of digits before and after a point, in its canonical form. */
const decimalOf = (whole: string, fraction: string): string =>
  canonicalDecimal(`${whole || "0"}.${fraction || "0"}`) ?? "0";

/**
 * Read every number that a text may stand for; `1.000` is one, or a thousand.
 *
 * @param text an amount as the service shows it: grouped, with a currency, with a decimal comma
 * @returns canonical decimals, the one without a point first; none where it is no amount
 */
export const readingsOf = (text: string): ReadonlyArray<string> => {
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
};

/** Digits in groups of three by one sign, `1.000` too: which of its two numbers it is, nothing says. */
const GROUPED = /^\d{1,3}([.,])\d{3}(?:\1\d{3})*$/;

/** Every number that an amount may be as it is written; 5.00 is not 50.00 in another unit. */
const amountsOf = (text: string): ReadonlyArray<string> => {
  const readings = readingsOf(text);
  const plain = text.replaceAll(/[^\d.,]/g, "");
  return readings.length === 1 || GROUPED.test(plain) ? readings : readings.slice(1);
};

/** Digits that a double carries, whatever they are: of more, the last ones are those of a binary fraction. */
const EXACT_DIGITS = 15;

const isSameAmount = (sent: string, shown: string): boolean =>
  sent === shown ||
  (shown.replace(".", "").length > EXACT_DIGITS &&
    Number(shown).toPrecision(EXACT_DIGITS) === Number(sent).toPrecision(EXACT_DIGITS));

const isApartBy = (a: string, b: string, fee: string): boolean =>
  BigDecimal.equals(
    BigDecimal.abs(
      BigDecimal.subtract(BigDecimal.fromStringUnsafe(a), BigDecimal.fromStringUnsafe(b)),
    ),
    BigDecimal.fromStringUnsafe(fee),
  );

/**
 * Compare an amount that was sent with what the service shows of it, exactly. Neither the number of its digits
 * nor how they are grouped makes it another one; nothing pays nothing, so that a zero says nothing.
 *
 * @param sent a plain decimal string
 * @param shown the service's own text
 * @param fee that it shows beside it, which the amount may include or leave out
 * @returns whether it is legibly another amount
 */
export const isOtherAmount = (sent: string, shown: string, fee: string): boolean => {
  const wanted = canonicalDecimal(sent);
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
 * Read an amount that the service shows, which may be grouped: `4,983,830.57`, `4.983.830,57`,
 * `4'983'830.57`.
 *
 * @param shown the service's own text
 * @returns the decimal without groups; the text as it is where it is written in no such way.
 */
export const withoutGroups = (shown: string): string => {
  const text = shown.trim();
  if (COMMAS.test(text)) return text.replaceAll(",", "");
  if (MARKS.test(text)) return text.replaceAll(/[^\d.]/g, "");
  return POINTS.test(text) ? text.replaceAll(".", "").replace(",", ".") : text;
};
