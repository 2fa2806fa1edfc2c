import {
  accountLimitsText,
  type LimitsView,
  readLimits,
  setLimits,
} from "@durable-payments/control";
import type { LimitFlags } from "../commands/flag-sets.ts";
import { badUsage } from "../exit-codes.ts";
import { commandOf } from "../output/next.ts";
import type { Output } from "../output/output.ts";
import { accountMeant, accountNameHere, accountsHere, onLedger } from "../settings.ts";
import { actingOf } from "./given.ts";

/** Words the limits of an account, and the command that approves those that wait for a second person. */
const linesOf = ({ account, ...limits }: LimitsView): ReadonlyArray<string> => {
  const line = `${accountNameHere(account)}: ${accountLimitsText(limits)}`;
  if (limits.pending === undefined) return [line];
  const seen = { workflowId: `limits/${account}`, hash: String(limits.pending.sequence) };
  return [line, commandOf({ action: "approve", ...seen })];
};

const textOf = (views: ReadonlyArray<LimitsView>): string =>
  views.flatMap(linesOf).join("\n") || "No limits are set.";

/** Reads amounts by currency: `EUR=100.00,USD=50.00`; `none` is null. */
const amountsOf = (given: string | undefined): unknown => {
  if (given === undefined || given === "none") return given === undefined ? undefined : null;
  return Object.fromEntries(
    given.split(",").map((one) => one.split("=").map((part) => part.trim())),
  );
};

/** Shows the limits of all accounts. */
export const showLimits = (output: Output): Promise<void> =>
  onLedger(async (opened) => {
    const here = accountsHere().map(({ hash }) => hash);
    output.answer({ limits: await readLimits(opened, here) }, ({ limits }) => textOf(limits));
  });

/** Sets the limits of an account. */
export const changeLimits = async (output: Output, flags: LimitFlags): Promise<void> => {
  const { account, approveAbove, max } = flags;
  const acting = actingOf(flags, true);
  if (max === undefined && approveAbove === undefined)
    throw badUsage("Pass --max, --approve-above, or both. Nothing was done.");
  const given = { maxAmounts: amountsOf(max), approveAbove: amountsOf(approveAbove) };
  const meant = accountMeant(account);
  await onLedger(async (opened) => {
    const limits = await setLimits(opened, meant, given, acting);
    output.answer(limits, (shown) =>
      [
        shown.pending === undefined
          ? "The limits apply."
          : "Looser limits apply once another person has approved them. Until then, nothing changes.",
        textOf([shown]),
      ].join("\n"),
    );
  });
};
