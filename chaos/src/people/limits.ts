import type { Campaign } from "../campaign.ts";
import type { POLICY } from "../plan/planned-run.ts";

const ACTING = { by: "grace", how: "--by", reason: "the policy" } as const;

/** Sets the limits of every account: a second person approves what loosens them. */
export const setLimits = (
  { operate, tally }: Pick<Campaign, "operate" | "tally">,
  approveAbove: typeof POLICY,
): Promise<unknown> =>
  operate(async ({ accounts, ledger }) => {
    for (const { hash } of accounts) {
      const limits = { maxAmounts: null, approveAbove };
      const { pending } = await ledger.setLimits(hash, limits, ACTING);
      if (pending !== undefined)
        await ledger.approveLimits(hash, pending.sequence, { ...ACTING, by: "margaret" });
      tally.add("limits changed");
    }
  });
