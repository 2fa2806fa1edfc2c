import * as BigDecimal from "effect/BigDecimal";
import * as Option from "effect/Option";

/** ISO 4217 currencies whose smaller unit is not a hundredth. */
const DIGITS: Readonly<Record<number, string>> = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
};

const digitsOf = new Map(
  Object.entries(DIGITS).flatMap(([digits, currencies]) =>
    currencies.split(" ").map((currency) => [currency, Number(digits)] as const),
  ),
);

/**
 * Returns how many digits after the point an amount has, by ISO 4217. (`Intl` has how people write amounts: HUF,
 * COP and IDR without any.)
 *
 * @param currency an ISO 4217 code in capitals
 * @returns digits after the point as ISO 4217 has them; 2 for an unknown code
 */
export const iso4217Digits = (currency: string): number => digitsOf.get(currency) ?? 2;

/** An empty text is zero to `BigDecimal`, but it is not an amount. */
const parse = (text: string): Option.Option<BigDecimal.BigDecimal> =>
  text.trim() === "" ? Option.none() : BigDecimal.fromString(text);

/**
 * Compares two amounts of one currency exactly.
 *
 * @param available a decimal string
 * @param needed a decimal string
 * @returns whether `available` is `needed` or more; false if either is not a decimal
 */
export const isAtLeast = (available: string, needed: string): boolean =>
  Option.getOrElse(
    Option.zipWith(parse(available), parse(needed), (a, b) =>
      BigDecimal.isGreaterThanOrEqualTo(a, b),
    ),
    () => false,
  );

/**
 * Writes an amount with the digits of its currency, or with more if it has more: 100 USD is `100.00`.
 *
 * @param amount of the currency, of either sign
 * @param currency an ISO 4217 code in capitals
 * @returns a decimal string
 */
export const formatAmount = (amount: BigDecimal.BigDecimal, currency: string): string => {
  const places = Math.max(iso4217Digits(currency), BigDecimal.normalize(amount).scale);
  const { value } = BigDecimal.scale(amount, places);
  const sign = value < 0n ? "-" : "";
  const text = String(value < 0n ? -value : value).padStart(places + 1, "0");
  const point = text.length - places;
  return places === 0 ? sign + text : `${sign}${text.slice(0, point)}.${text.slice(point)}`;
};
