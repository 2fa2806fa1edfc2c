import type { AccountLimits, Limits } from "@durable-payments/ledger";

const amountsText = (amounts: Limits["maxAmounts"]): string =>
  Object.entries(amounts ?? {})
    .map(([currency, amount]) => `${amount} ${currency}`)
    .join(", ");

/** Words limits: `at most 1000.00 EUR, no other currency; approval above 100.00 EUR, always in other currencies`; `no limits` if there are none. */
export const limitsText = ({ approveAbove, maxAmounts }: Limits): string => {
  const [most, above] = [amountsText(maxAmounts), amountsText(approveAbove)];
  return (
    [
      ...(maxAmounts === null
        ? []
        : [`at most ${most ? `${most}, no other currency` : "nothing"}`]),
      ...(approveAbove === null
        ? []
        : [`approval above ${above ? `${above}, always in other currencies` : "nothing"}`]),
    ].join("; ") || "no limits"
  );
};

/** Words the limits of an account, and those that wait for a second person. */
export const accountLimitsText = ({ pending, ...now }: AccountLimits): string =>
  pending === undefined
    ? limitsText(now)
    : `${limitsText(now)} (${pending.by} asks for ${limitsText(pending)}: ${pending.reason ?? "no reason"})`;
