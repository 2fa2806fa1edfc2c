import type { Budgets, Setting } from "./world.ts";
import type { WritePolicy } from "../../src/model/index.ts";

const NONE: Budgets = {
  kills: 0,
  loses: 0,
  sends: 3,
  retries: 0,
  amends: 0,
  resets: 0,
  restores: 0,
  losses: 0,
  ends: 0,
  overrules: 0,
  answers: 0,
  unclear: 0,
  pauses: 0,
  accounts: 0,
  cancels: 0,
  lates: 0,
};
const listed: WritePolicy = {
  repeat: "none",
  isListed: true,
  whenLost: "ask",
  keyLifetimeMs: 1_000_000,
  listLagMs: 1_000,
  requestTimeoutMs: 1_000,
};
const keyed: WritePolicy = { ...listed, repeat: "keyed", isListed: false };

const setting = (budgets: Partial<Budgets>, change: Partial<Setting> = {}): Setting => ({
  policy: listed,
  hasKeys: true,
  needsApproval: false,
  isVouched: true,
  ...change,
  budgets: { ...NONE, ...budgets },
});

/** What is explored, each by itself: all at once would be too much for every commit. */
export const scenarios: Readonly<Record<string, Setting>> = {
  "kills, freezes and lost answers": setting({ kills: 2, loses: 1, lates: 1 }),
  paused: setting({ kills: 1, loses: 1, pauses: 1 }),
  "without a voucher": setting({ kills: 1, loses: 1 }, { isVouched: false }),
  "retry with another request": setting({ kills: 1, loses: 1, retries: 1, amends: 1 }),
  "retry without keys": setting({ kills: 1, loses: 1, retries: 1 }, { hasKeys: false }),
  "reset, two runs of one id": setting({ kills: 1, loses: 1, resets: 1, retries: 1, amends: 1 }),
  "ledger restored": setting({ kills: 1, loses: 1, restores: 1, pauses: 1 }),
  "ledger restored, retried": setting({ loses: 1, restores: 1, retries: 1, amends: 1 }),
  "ledger lost": setting({ kills: 1, loses: 1, losses: 1, retries: 1 }),
  "ends and overrules": setting({ kills: 1, loses: 1, ends: 1, overrules: 1, retries: 1 }),
  "questions and answers": setting({ kills: 1, loses: 1, lates: 1, unclear: 1, answers: 2 }),
  "questions and answers, restored": setting(
    { loses: 1, unclear: 1, answers: 2, restores: 1 },
    { hasKeys: false },
  ),
  "ended while asked": setting({
    loses: 1,
    unclear: 1,
    answers: 1,
    ends: 1,
    overrules: 1,
    retries: 1,
  }),
  approvals: setting(
    { kills: 1, loses: 1, answers: 2, accounts: 1, ends: 1, overrules: 1, retries: 1, amends: 1 },
    { needsApproval: true },
  ),
  "approvals, asked": setting({ loses: 1, unclear: 1, answers: 3 }, { needsApproval: true }),
  "approvals, restored": setting({ loses: 1, answers: 2, restores: 1 }, { needsApproval: true }),
  cancelled: setting({ kills: 1, loses: 1, cancels: 1, retries: 1, pauses: 1 }),
  "keyed: kills and lost answers": setting({ kills: 2, loses: 1, answers: 1 }, { policy: keyed }),
  "keyed: retry with another request": setting(
    { kills: 1, loses: 1, retries: 1, amends: 1, answers: 1 },
    { policy: keyed },
  ),
  "keyed: ends and overrules": setting(
    { kills: 1, loses: 1, ends: 1, overrules: 1, retries: 1, amends: 1 },
    { policy: keyed },
  ),
  "keyed: ledger restored, retried": setting(
    { kills: 1, restores: 1, retries: 1 },
    { policy: keyed },
  ),
  "keyed: ledger restored": setting(
    { loses: 1, restores: 1, retries: 1, amends: 1, resets: 1 },
    { policy: keyed },
  ),
  "keyed: ledger lost": setting(
    { kills: 1, loses: 1, losses: 1, retries: 1, amends: 1 },
    { policy: keyed },
  ),
  "sent again: kills, lost answers, ends": setting(
    { kills: 1, loses: 1, ends: 1, overrules: 1, retries: 1, amends: 1 },
    { policy: { ...listed, isListed: false, whenLost: "resend" } },
  ),
  "idempotent: restored": setting(
    { kills: 1, loses: 1, restores: 1 },
    { policy: { ...listed, repeat: "idempotent", isListed: false } },
  ),
};
