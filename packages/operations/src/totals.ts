export { Totals } from "@durable-payments/activities/totals";

/**
 * Word totals as a person reads them: `12.50 EUR, 3.00 USD`.
 *
 * @param totals amounts by currency.
 * @returns one line, in the order of the totals.
 */
export const totalsText = (totals: Readonly<Record<string, string>>): string =>
  Object.entries(totals)
    .map(([currency, amount]) => `${amount} ${currency}`)
    .join(", ");
