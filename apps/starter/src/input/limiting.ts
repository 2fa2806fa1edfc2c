import {
  approveLimits,
  type Deciding,
  type LimitsView,
  limitsText,
  readLimits,
  setLimits,
} from "@durable-payments/control";
import type { LimitFlags } from "../commands/limits.ts";
import { badUsage } from "../exit-codes.ts";
import { canAsk, confirm } from "../output/ask.ts";
import { commandOf } from "../output/next.ts";
import { type Output, visible } from "../output/output.ts";
import { wrap } from "../output/text.ts";
import { accountsHere, onLedger } from "../settings.ts";
import { actingOf, readJson } from "./given.ts";

type OfLedger = Pick<Deciding, "ledger">;

/** Words the limits of an account, those that wait for a second person, and the command that approves them. */
const linesOf = ({ account, hash, pending, ...now }: LimitsView): ReadonlyArray<string> => {
  const name = accountsHere().find((one) => one.hash === account)?.name;
  const lines = [`${name ?? account}: ${limitsText(now)}`];
  if (pending === undefined || hash === null) return lines;
  return [
    ...lines,
    `${pending.by} asks for: ${limitsText(pending)} (${pending.reason ?? "no reason"})`,
    commandOf({ operation: "approveLimits", account, hash }),
  ];
};

const textOf = (views: ReadonlyArray<LimitsView>): string =>
  views.flatMap(linesOf).join("\n") || "No limits are set.";

/** Finds the account that is meant: the named one, that of these settings, or the only one with limits. */
const accountMeant = async ({ ledger }: OfLedger, name: string | undefined): Promise<string> => {
  const here = accountsHere();
  const known = await ledger.limitedAccounts();
  const [only, ...others] = here.length > 0 ? here.map(({ hash }) => hash) : known;
  const named = here.find((one) => one.name === name)?.hash;
  const found =
    name === undefined
      ? (named ?? (others.length === 0 ? only : undefined))
      : (named ?? known.find((hash) => hash === name));
  if (found !== undefined) return found;
  const names = [...here.map((one) => one.name ?? one.hash), ...known];
  throw badUsage(
    `Which account? Pass --account with one of these: ${names.join(", ") || "none is known here: set PAYMENTS_CLIENT_ID and PAYMENTS_BASE_URL"}. Nothing was done.`,
  );
};

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
    const limits = await readLimits(
      opened,
      accountsHere().map(({ hash }) => hash),
    );
    output.answer({ limits }, (shown) => textOf(shown.limits));
  });

/** Sets the limits of an account, from a file or from flags. */
export const changeLimits = async (output: Output, flags: LimitFlags): Promise<void> => {
  const { account, approveAbove, file, max } = flags;
  const acting = actingOf(flags, true);
  const flagged = { maxAmounts: amountsOf(max), approveAbove: amountsOf(approveAbove) };
  if ((file === undefined) === (max === undefined && approveAbove === undefined))
    throw badUsage("Pass a FILE, or --max and --approve-above. Nothing was done.");
  const given = file === undefined ? flagged : ((await readJson(file)) as typeof flagged);
  await onLedger(async (opened) => {
    const limits = await setLimits(opened, await accountMeant(opened, account), given, acting);
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

/** Approves the looser limits that were shown. */
export const approveLooser = async (
  output: Output,
  {
    account,
    hash,
    ...flags
  }: Pick<LimitFlags, "account" | "by" | "reason"> & {
    readonly hash: string | undefined;
  },
): Promise<void> => {
  const acting = actingOf(flags);
  await onLedger(async (opened) => {
    const meant = await accountMeant(opened, account);
    const [seen] = (await readLimits(opened)).filter((one) => one.account === meant);
    if (hash === undefined && seen?.pending !== undefined) {
      const lines = linesOf(visible(seen));
      if (output.json || !canAsk())
        throw badUsage(
          "Pass the hash of what you have read: --hash HASH. Nothing was done.",
          lines,
        );
      for (const line of lines) output.say(wrap(line, "  "));
      await confirm("Approve these limits?", "Nothing was recorded.");
    }
    const given = { ...acting, hash: hash ?? seen?.hash ?? undefined };
    output.answer(await approveLimits(opened, meant, given), (shown) => textOf([shown]));
  });
};
