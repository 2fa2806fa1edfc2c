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
 * Digits after the point in an amount of a currency, as ISO 4217 has it. (Not as `Intl` has it: that
 * is what people write, and has none for HUF, COP or IDR.)
 */
export const iso4217Digits = (currency: string): number => digitsOf.get(currency) ?? 2;
