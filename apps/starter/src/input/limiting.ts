import type { Amounts } from "@durable-payments/ledger";
import type { LimitsView } from "@durable-payments/control/payments";
import { accountLimitsText } from "@durable-payments/control/show";
import type { LimitFlags } from "../commands/flag-sets.ts";
import { badUsage } from "../exit-codes.ts";
import { commandOf } from "../output/next.ts";

import { accountName } from "../payments.ts";
import { type Act, actingOf } from "./given.ts";

/** Words the limits of an account, and the command that approves those that wait for a second person. */
const linesOf = ({ account, ...limits }: LimitsView): ReadonlyArray<string> => {
  const line = `${accountName(account)}: ${accountLimitsText(limits)}`;
  if (limits.pending === undefined) return [line];
  const seen = { workflowId: `limits/${account}`, hash: String(limits.pending.sequence) };
  return [line, commandOf({ action: "approve", ...seen })];
};

const textOf = (views: ReadonlyArray<LimitsView>): string =>
  views.flatMap(linesOf).join("\n") || "No limits are set.";

/** Reads amounts by currency: `EUR=100.00,USD=50.00`; `none` is null. They are checked when they are set. */
const amountsOf = (given: string | undefined): Amounts | null | undefined => {
  if (given === undefined || given === "none") return given === undefined ? undefined : null;
  const amounts = given.split(",").map((one) => one.split("=").map((part) => part.trim()));
  const currencies = new Set(amounts.map(([currency]) => currency));
  // The last one of two would count, unnoticed.
  if (currencies.size < amounts.length || amounts.some(({ length }) => length !== 2))
    throw badUsage("Give each currency once: EUR=100.00,USD=50.00. Nothing was done.");
  return Object.fromEntries(amounts) as Amounts;
};

/** Shows the limits of all accounts. */
export const showLimits: Act<unknown> = async (output, payments) =>
  output.answer({ limits: await payments.limits() }, ({ limits }) => textOf(limits));

/** Sets the limits of an account. */
export const changeLimits: Act<LimitFlags> = async (
  output,
  payments,
  { account, approveAbove, max, ...flags },
) => {
  const acting = actingOf(flags, true);
  if (max === undefined && approveAbove === undefined)
    throw badUsage("Pass --max, --approve-above, or both. Nothing was done.");
  const limits = { maxAmounts: amountsOf(max), approveAbove: amountsOf(approveAbove) };
  output.answer(await payments.setLimits({ ...acting, account, ...limits }), (shown) =>
    [
      shown.pending === undefined
        ? "The limits apply."
        : "Looser limits apply once another person has approved them. Until then, nothing changes.",
      textOf([shown]),
    ].join("\n"),
  );
};
