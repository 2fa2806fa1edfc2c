import type { Budgets, Setting } from "./world.ts";
import type { WritePolicy } from "../../src/index.ts";

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
  slows: 0,
  accounts: 0,
  cancels: 0,
  lates: 0,
  settles: 0,
  wrongs: 0,
  undos: 0,
  contradictions: 0,
  others: 0,
  roots: 0,
  limits: 0,
  selves: 0,
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
  above: undefined,
  isTight: false,
  filed: undefined,
  starts: ["w"],
  isUnnoticed: false,
  isVouched: true,
  isNamed: true,
  isStoppedFirst: false,
  clock: "ours",
  ...change,
  budgets: { ...NONE, ...budgets },
});

const isKeyed = { policy: keyed };
const hasNoKeys = { hasKeys: false };
const isApproved = { above: "0" } as const;
const isUnnoticed = { isUnnoticed: true };
const isResent = { policy: { ...listed, isListed: false, whenLost: "resend" } } as const;
const isUnnamed = { isNamed: false };
const isIdempotent = { policy: { ...listed, repeat: "idempotent", isListed: false } } as const;

/** Each is explored completely within its bounds by `npm test`. Three sends, two runs, two attempts, one restore. */
export const scenarios = {
  "kills, freezes and lost answers": setting({ kills: 2, loses: 1, lates: 1 }),
  "an answer lost on the way": setting({ kills: 1, loses: 1, lates: 1 }),
  paused: setting({ kills: 1, loses: 1, pauses: 1 }),
  "a slow commit": setting({ slows: 1, kills: 1, loses: 1, pauses: 2 }),
  "a slow commit, ended": setting({ slows: 1, kills: 1, ends: 1, overrules: 1, retries: 1 }),
  "a slow commit, ledger restored": setting(
    { slows: 1, loses: 1, restores: 1, retries: 1 },
    { isStoppedFirst: true },
  ),
  "without a voucher": setting({ kills: 1, loses: 1 }, { isVouched: false }),
  "retry with another request": setting({ kills: 1, loses: 1, retries: 1, amends: 1 }),
  "retry with another request, not named": setting(
    { kills: 1, loses: 1, retries: 1, amends: 1 },
    isUnnamed,
  ),
  "retry without keys": setting({ kills: 1, loses: 1, retries: 1 }, hasNoKeys),
  "a clock that is behind, without keys": setting(
    { loses: 2, lates: 1, answers: 1, retries: 1 },
    { ...hasNoKeys, clock: "behind" },
  ),
  "reset, then retried amended": setting({ loses: 1, resets: 1, retries: 1, amends: 1 }),
  "ledger restored": setting({ kills: 1, loses: 1, restores: 1, pauses: 1 }),
  "ledger restored, retried": setting({ kills: 1, restores: 1, retries: 1, amends: 1 }),
  "ledger restored, ended and overruled": setting({
    loses: 1,
    restores: 1,
    ends: 1,
    overrules: 1,
    answers: 1,
    retries: 1,
  }),
  "ledger restored, recovered later, ended": setting(
    { loses: 1, restores: 1, ends: 1, overrules: 1, retries: 1 },
    { isStoppedFirst: true },
  ),
  "ledger restored, recovered later": setting(
    { loses: 1, restores: 1, retries: 1, amends: 1 },
    { isStoppedFirst: true },
  ),
  "ledger lost": setting({ kills: 1, loses: 1, losses: 1 }),
  "ledger lost, retried": setting({ loses: 1, losses: 1, retries: 1, amends: 1 }),
  "ledger lost, forgotten by Temporal": setting({ loses: 1, losses: 1, resets: 1 }),
  "ledger lost, started anew amended": setting({ losses: 1, resets: 1, amends: 1 }),
  "ledger lost, started anew amended, without keys": setting(
    { losses: 1, resets: 1, amends: 1 },
    hasNoKeys,
  ),
  "ledger restored, started anew amended, without keys": setting(
    { restores: 1, resets: 1, amends: 1 },
    hasNoKeys,
  ),
  "ends and overrules": setting({
    kills: 1,
    loses: 1,
    ends: 1,
    overrules: 1,
    retries: 1,
    answers: 1,
  }),
  "questions and answers": setting({ kills: 1, loses: 1, unclear: 1, answers: 2 }),
  "questions and wrong answers": setting({ loses: 1, lates: 1, unclear: 1, answers: 2, wrongs: 1 }),
  "questions and answers, restored": setting(
    { loses: 1, unclear: 1, answers: 2, restores: 1 },
    hasNoKeys,
  ),
  "questions and answers, started anew with another request, not named": setting(
    { loses: 1, unclear: 1, answers: 2, resets: 1, amends: 1 },
    isUnnamed,
  ),
  "keyed: questions and answers, started anew with another request, not named": setting(
    { loses: 1, answers: 2, resets: 1, amends: 1 },
    { ...isKeyed, ...isUnnamed },
  ),
  "ended while asked": setting({
    loses: 1,
    unclear: 1,
    answers: 1,
    ends: 1,
    overrules: 1,
    retries: 1,
  }),
  "answers that differ": setting({ loses: 1, contradictions: 1, answers: 1, retries: 1 }),
  "three times absent": setting({ loses: 4, sends: 4, answers: 1 }),
  "one child id under two roots": setting({ loses: 1, roots: 1, retries: 1 }),
  "ledger lost, one child id under two roots": setting({ loses: 1, losses: 1, roots: 1 }),
  "ledger lost unnoticed, one child id under two roots": setting(
    { loses: 1, losses: 1, roots: 1 },
    isUnnoticed,
  ),
  "one key asked by two workflows": setting({ loses: 1, lates: 1, others: 1 }),
  "one key asked by two workflows, for another request": setting({
    loses: 1,
    others: 1,
    amends: 1,
    retries: 1,
  }),
  "ledger lost, one key asked by two workflows": setting({ loses: 1, losses: 1, others: 1 }),
  "ledger lost unnoticed, one key asked by two workflows": setting(
    { loses: 1, losses: 1, others: 1 },
    isUnnoticed,
  ),
  "keyed: ledger lost unnoticed, one key asked by two workflows": setting(
    { loses: 1, losses: 1, others: 1 },
    { ...isKeyed, ...isUnnoticed },
  ),
  approvals: setting(
    { loses: 1, answers: 2, accounts: 1, ends: 1, overrules: 1, retries: 1, amends: 1 },
    isApproved,
  ),
  "approvals, retried amended": setting(
    { kills: 1, answers: 2, retries: 1, amends: 1 },
    isApproved,
  ),
  "approvals, by whom": setting(
    { loses: 1, unclear: 1, answers: 3, selves: 1, retries: 1, amends: 1 },
    isApproved,
  ),
  "approvals, amended to less than the threshold": setting(
    { kills: 1, answers: 2, retries: 1, amends: 1 },
    { above: "1" },
  ),
  "approvals, limits tightened and loosened": setting(
    { loses: 1, answers: 2, limits: 3, selves: 1 },
    { isTight: true },
  ),
  "approvals, limits first tightened": setting({ loses: 1, slows: 1, answers: 2, limits: 2 }),
  "approvals, ended and overruled": setting({
    loses: 1,
    answers: 1,
    selves: 1,
    ends: 1,
    overrules: 1,
    retries: 1,
  }),
  "approvals, one key asked by two workflows": setting(
    { answers: 2, others: 1, amends: 1 },
    isApproved,
  ),
  "approvals, started anew by another person": setting(
    { answers: 2, resets: 1, amends: 1 },
    isApproved,
  ),
  "approvals, one key asked by two known workflows": setting(
    { answers: 2, others: 1, amends: 1, selves: 1 },
    { ...isApproved, starts: ["w", "v"] },
  ),
  "approvals, of a file's row": setting(
    { loses: 1, answers: 2, selves: 1, retries: 1, amends: 1 },
    { filed: "A" },
  ),
  "approvals, another request than its file's": setting(
    { loses: 1, answers: 2, retries: 1, amends: 1 },
    { filed: "B" },
  ),
  "approvals, restored": setting({ loses: 1, answers: 2, restores: 1 }, isApproved),
  cancelled: setting({ kills: 1, loses: 1, cancels: 1, retries: 1 }),
  "settled by the janitor": setting({ loses: 1, settles: 1, retries: 1 }),
  "cancelled, settled by the janitor": setting({ loses: 1, cancels: 1, settles: 1, retries: 1 }),
  "cancelled while asked": setting({ kills: 1, unclear: 1, answers: 1, cancels: 1, retries: 1 }),
  undone: setting({ loses: 1, undos: 1, resets: 1 }),
  "keyed: kills and lost answers": setting({ kills: 1, loses: 2, answers: 1 }, isKeyed),
  "keyed: retry with another request": setting(
    { kills: 1, loses: 1, retries: 1, amends: 1, answers: 1 },
    isKeyed,
  ),
  "keyed: ends and overrules": setting(
    { loses: 1, ends: 1, overrules: 1, retries: 1, amends: 1, answers: 1 },
    isKeyed,
  ),
  "keyed: ledger restored": setting({ kills: 1, loses: 1, restores: 1 }, isKeyed),
  "keyed: ledger restored, retried": setting({ kills: 1, restores: 1, retries: 1 }, isKeyed),
  // Without a retry before the loss: it has another key, which nobody knows any more (docs/restore.md).
  "keyed: ledger lost, forgotten by Temporal": setting({ loses: 1, losses: 1, resets: 1 }, isKeyed),
  "keyed: ledger lost": setting({ kills: 1, loses: 1, losses: 1, retries: 1, amends: 1 }, isKeyed),
  "sent again: kills, lost answers, ends": setting(
    { loses: 1, ends: 1, overrules: 1, retries: 1, answers: 1 },
    isResent,
  ),
  "idempotent: restored": setting({ kills: 1, restores: 1 }, isIdempotent),
} satisfies Readonly<Record<string, Setting>>;

/** Explored nightly, as far as `LEDGER_MODEL_STATES` goes: more than one fault of a kind, and all kinds at once. */
export const large = {
  "reset, two runs of one id": setting({ kills: 1, loses: 1, resets: 1 }),
  "one child id under two roots": setting({ kills: 1, loses: 1, roots: 1, retries: 1 }),
  "one key asked by two workflows": setting({
    kills: 1,
    loses: 1,
    others: 1,
    retries: 1,
    amends: 1,
  }),
  "approvals, one key asked by two workflows": setting(
    { kills: 1, loses: 1, answers: 2, others: 1, amends: 1, selves: 1, limits: 2 },
    { ...isApproved, starts: ["w", "v"] },
  ),
  "approvals, of a file's row": setting(
    { kills: 1, loses: 1, answers: 2, selves: 1, retries: 1, amends: 1, ends: 1, overrules: 1 },
    { filed: "A" },
  ),
  "keyed: kills and lost answers": setting({ kills: 2, loses: 1, answers: 1 }, isKeyed),
  "kills, freezes, lost and late answers": setting({ kills: 2, loses: 2, lates: 1 }),
  "reset, kills, retried amended": setting({
    kills: 1,
    loses: 1,
    resets: 1,
    retries: 1,
    amends: 1,
  }),
  "ledger restored while paused, retried": setting({
    kills: 1,
    loses: 1,
    restores: 1,
    pauses: 1,
    retries: 1,
  }),
  "ledger lost, retried": setting({ kills: 1, loses: 1, losses: 1, retries: 1, amends: 1 }),
  "late answers, questions and answers": setting({
    kills: 1,
    loses: 1,
    lates: 1,
    unclear: 1,
    answers: 2,
    wrongs: 1,
  }),
  approvals: setting(
    { kills: 1, loses: 1, answers: 2, accounts: 1, ends: 1, overrules: 1, retries: 1, amends: 1 },
    isApproved,
  ),
  "keyed: ledger restored, reset, amended": setting(
    { loses: 1, restores: 1, retries: 1, amends: 1, resets: 1 },
    isKeyed,
  ),
  "without keys: ledger lost, reset, amended": setting(
    { kills: 1, loses: 1, losses: 1, resets: 1, amends: 1, answers: 1 },
    hasNoKeys,
  ),
  undone: setting({ kills: 1, loses: 1, undos: 1, resets: 1, amends: 1 }),
  everything: setting({
    kills: 1,
    loses: 1,
    restores: 1,
    retries: 1,
    amends: 1,
    ends: 1,
    overrules: 1,
    unclear: 1,
    answers: 1,
    cancels: 1,
    settles: 1,
  }),
} satisfies Readonly<Record<string, Setting>>;
