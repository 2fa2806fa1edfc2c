import {
  type Deciding,
  type LimitsView,
  limitsText,
  readLimits,
  setLimits,
} from "@durable-payments/control";
import type { LimitFlags } from "../commands/limits.ts";
import { badUsage } from "../exit-codes.ts";
import { commandOf } from "../output/next.ts";
import type { Output } from "../output/output.ts";
import { accountsHere, onLedger } from "../settings.ts";
import { actingOf } from "./given.ts";

/** Words the limits of an account, those that wait for a second person, and the command that approves them. */
const linesOf = ({ account, hash, id, pending, ...now }: LimitsView): ReadonlyArray<string> => {
  const name = accountsHere().find((one) => one.hash === account)?.name;
  const lines = [`${name ?? account}: ${limitsText(now)}`];
  if (pending === undefined || hash === null) return lines;
  return [
    ...lines,
    `${pending.by} asks for: ${limitsText(pending)} (${pending.reason ?? "no reason"})`,
    commandOf({ operation: "approve", workflowId: id, hash }),
  ];
};

const textOf = (views: ReadonlyArray<LimitsView>): string =>
  views.flatMap(linesOf).join("\n") || "No limits are set.";

/** Finds the account that is meant: the named one, the unnamed one of these settings, or the only one. */
const accountMeant = async (
  { ledger }: Pick<Deciding, "ledger">,
  name: string | undefined,
): Promise<string> => {
  const limited = await ledger.limitedAccounts();
  const known = [...accountsHere(), ...limited.map((hash) => ({ name: hash, hash }))];
  const [only, ...others] = new Set(known.map(({ hash }) => hash));
  const named = known.find((one) => one.name === name)?.hash;
  const found = named ?? (name === undefined && others.length === 0 ? only : undefined);
  if (found !== undefined) return found;
  const names = known.map((one) => one.name ?? one.hash).join(", ");
  throw badUsage(
    `Which account? Pass --account with one of these: ${names || "none is known here: set PAYMENTS_CLIENT_ID and PAYMENTS_BASE_URL"}. Nothing was done.`,
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
