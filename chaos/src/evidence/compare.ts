import { equals, isZero, subtract } from "effect/BigDecimal";
import { compareOnboarding, comparePayouts, isRefusedByFault } from "./compare-runs.ts";
import { type Ending, NOT_READ } from "./run-endings.ts";
import type { Evidence } from "./evidence.ts";
import { Findings } from "./findings.ts";
import { parseAmount, formatAmount, sumAmounts } from "./exact-amount.ts";
import { LATE_FUNDS, type PlannedRun } from "../plan/planned-run.ts";

/** What the comparison of the ledger with the runs has found. */
export interface Comparison extends Pick<Findings, "duplicates" | "lost" | "wrong" | "stuck"> {
  readonly completed: number;
  /** Ended by an injected refusal. */
  readonly refused: number;
  /** Ended by people: cancelled, terminated, abandoned. */
  readonly ended: number;
  /** Failed as it was planned: a payout that fails, a check or funds that are late. */
  readonly failed: number;
}

type Outcome = "completed" | "refused" | "ended" | "failed" | "unexplained";

/** Check that what was paid out and put on cards is what the balances lack, to the last digit. */
const compareBalances = ({ funds, ledger }: Evidence, findings: Findings): void => {
  const payouts = ledger.payouts.filter(({ returned }) => !returned);
  const cards = ledger.cards.filter(({ card_status }) => card_status !== "cancelled");
  const spent = [
    ...payouts.map(({ amount, currency }) => ({ amount, currency })),
    ...cards.map(({ card_limit }) => ({ amount: card_limit, currency: "USD" })),
  ];
  for (const [currency, paidIn] of Object.entries(funds)) {
    const due = subtract(
      parseAmount(paidIn),
      sumAmounts(spent.filter((one) => one.currency === currency).map(({ amount }) => amount)),
    );
    const left = ledger.balances.find((balance) => balance.currency === currency);
    if (left !== undefined && equals(parseAmount(left.available_balance), due)) continue;
    findings.wrong.push({
      subject: `the ${currency} balance`,
      what: `is ${left?.available_balance ?? "missing"}, must be ${formatAmount(due)}`,
    });
  }
};

/** Check that everything in the ledger is of a run. */
const findUnowned = ({ ledger, runs }: Evidence, findings: Findings): void => {
  const known = new Set(
    runs.flatMap((run) =>
      run.kind === "onboarding" ? [run.email] : run.payments.map(({ reason }) => reason),
    ),
  );
  const holders = new Set(ledger.cardholders.map(({ card_holder_id }) => card_holder_id));
  const unowned = [
    ...ledger.payouts
      .filter(({ payout_reason }) => !known.has(payout_reason))
      .map(({ payout_id }) => `payout ${payout_id}`),
    ...ledger.cardholders
      .filter(({ email }) => !known.has(email))
      .map(({ card_holder_id }) => `cardholder ${card_holder_id}`),
    ...ledger.cards
      .filter(({ card_holder_id }) => !holders.has(card_holder_id))
      .map(({ card_id }) => `card ${card_id}`),
  ];
  findings.wrong.push(...unowned.map((subject) => ({ subject, what: "is of no run" })));
};

/** Check that nothing was written while sends were paused. */
const comparePauses = ({ ledger, pauses }: Evidence, findings: Findings): void => {
  const writes = [
    ...ledger.payouts.map((one) => ({ ...one, subject: `payout ${one.payout_id}` })),
    ...ledger.cardholders.map((one) => ({ ...one, subject: `cardholder ${one.card_holder_id}` })),
    ...ledger.cards.map((one) => ({ ...one, subject: `card ${one.card_id}` })),
    ...ledger.beneficiaries.map((one) => ({ ...one, subject: `payee ${one.beneficiary_id}` })),
  ];
  for (const { from, to } of pauses) {
    for (const { create_time, subject } of writes) {
      const at = Date.parse(create_time);
      if (at <= from || at >= to) continue;
      findings.wrong.push({ subject, what: `made ${at - from} ms after the pause took hold` });
    }
  }
};

/** Classify how a run ended, and whether it may have ended so. */
const outcomeOf = (run: PlannedRun, ending: Ending, evidence: Evidence): Outcome => {
  if (ending.status !== "failed") return "completed";
  const { workflowId } = run;
  if (evidence.ended.has(workflowId) || evidence.abandoned.has(workflowId)) return "ended";
  if (isRefusedByFault(ending)) return "refused";
  const { type } = ending;
  if (run.kind === "onboarding") {
    // What it undid before the database was put back is gone.
    const isUndone =
      evidence.restored && run.undoes && (type === "CardholderRemoved" || type === "Refused");
    return isUndone || run.mayFailAs.includes(type) ? "failed" : "unexplained";
  }
  const mayFail = run.payments.some(({ settlement }) => settlement === "fails");
  if (type === "PayoutFailed" && mayFail) return "failed";
  const isUnfunded =
    run.payments[0].currency === LATE_FUNDS.currency &&
    isZero(parseAmount(evidence.funds[LATE_FUNDS.currency] ?? "0"));
  return type === "Refused" && isUnfunded ? "failed" : "unexplained";
};

/** Compare the ledger, which has what was done, with what the runs say that they did. */
export const compare = (evidence: Evidence): Comparison => {
  const { ledger } = evidence;
  const findings = new Findings();
  const counts = { completed: 0, refused: 0, ended: 0, failed: 0, unexplained: 0 };
  for (const run of evidence.runs) {
    const { workflowId } = run;
    const ended = evidence.endings.get(workflowId) ?? NOT_READ;
    const { ending } = ended;
    if (ending.status === "open") {
      findings.stuck.push({ subject: workflowId, what: "has not ended" });
    } else {
      const outcome = outcomeOf(run, ending, evidence);
      counts[outcome] += 1;
      if (outcome === "unexplained" && ending.status === "failed") {
        const what = `failed (${ending.type}): ${ending.message}`;
        findings.wrong.push({ subject: workflowId, what });
      }
    }
    if (run.kind === "onboarding") {
      compareOnboarding(run, ended, { ledger, facts: evidence }, findings);
    } else {
      comparePayouts(run, ended, { ledger, facts: evidence }, findings);
    }
  }
  compareBalances(evidence, findings);
  findUnowned(evidence, findings);
  comparePauses(evidence, findings);
  const { duplicates, lost, stuck, wrong } = findings;
  const { completed, ended, failed, refused } = counts;
  return { completed, refused, ended, failed, duplicates, lost, wrong, stuck };
};
