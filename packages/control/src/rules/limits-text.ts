import type { Limits } from "@durable-payments/ledger";

const amountsText = (amounts: Limits["maxAmounts"]): string =>
  Object.entries(amounts ?? {})
    .map(([currency, amount]) => `${amount} ${currency}`)
    .join(", ");

/** Words limits: `at most 1000.00 EUR; approval above 100.00 EUR`; `no limits` if there are none. */
export const limitsText = ({ approveAbove, maxAmounts }: Limits): string =>
  [
    ...(maxAmounts === null ? [] : [`at most ${amountsText(maxAmounts) || "nothing"}`]),
    ...(approveAbove === null ? [] : [`approval above ${amountsText(approveAbove) || "nothing"}`]),
  ].join("; ") || "no limits";
