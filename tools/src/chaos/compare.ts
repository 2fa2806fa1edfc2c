import { compareOnboarding, comparePayout, isRefusedOnDemand } from "./compare-runs.ts";
import type { EndedRun } from "./endings.ts";
import { Findings } from "./findings.ts";
import type { Ledger } from "./ledger.ts";
import { money, moneyText, total } from "./money.ts";
import type { PlannedRun } from "./planned-runs.ts";

/** What a chaos run leaves behind. */
export interface Evidence {
  readonly runs: readonly PlannedRun[];
  /** How each run ended, by workflow id. */
  readonly endings: ReadonlyMap<string, EndedRun>;
  readonly ledger: Ledger;
  readonly startBalances: Readonly<Record<string, string>>;
  /** Whether the ledger shows the keys of payouts. */
  readonly echoKeys: boolean;
}

/** What the ledger and the runs say together. */
export interface Comparison extends Pick<Findings, "duplicates" | "lost" | "wrong" | "stuck"> {
  readonly completed: number;
  /** Ended by a refusal that was ordered. */
  readonly refused: number;
}

const NOT_ENDED: EndedRun = { ending: { status: "open" }, ids: [] };

/** What was paid out and put on cards is what is gone from the balances, to the last digit. */
const compareBalances = ({ ledger, startBalances }: Evidence, findings: Findings): void => {
  const payouts = ledger.payouts.filter(({ returned }) => !returned);
  const cards = ledger.cards.filter(({ card_status }) => card_status !== "cancelled");
  const spent = [
    ...payouts.map(({ amount, currency }) => ({ amount, currency })),
    ...cards.map(({ card_limit }) => ({ amount: card_limit, currency: "USD" })),
  ];
  for (const [currency, start] of Object.entries(startBalances)) {
    const due =
      money(start) -
      total(spent.filter((one) => one.currency === currency).map(({ amount }) => amount));
    const left = ledger.balances.find((balance) => balance.currency === currency);
    if (left !== undefined && money(left.available_balance) === due) continue;
    findings.wrong.push({
      subject: `the ${currency} balance`,
      what: `is ${left?.available_balance ?? "missing"}, must be ${moneyText(due)}`,
    });
  }
};

/** Everything in the ledger is of a run. */
const findStrangers = ({ ledger, runs }: Evidence, findings: Findings): void => {
  const known = new Set(runs.map((run) => (run.kind === "payout" ? run.reason : run.email)));
  const holders = new Set(ledger.cardholders.map(({ card_holder_id }) => card_holder_id));
  const strangers = [
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
  findings.wrong.push(...strangers.map((subject) => ({ subject, what: "is of no run" })));
};

/** Compares the ledger, which tells what was done, with what the runs say that they did. */
export const compare = (evidence: Evidence): Comparison => {
  const findings = new Findings();
  let completed = 0;
  let refused = 0;
  for (const run of evidence.runs) {
    const { workflowId } = run;
    const ended = evidence.endings.get(workflowId) ?? NOT_ENDED;
    const { ending } = ended;
    if (ending.status === "open") {
      findings.stuck.push({ subject: workflowId, what: "has not ended" });
    } else if (ending.status === "completed") {
      completed += 1;
    } else if (isRefusedOnDemand(ending)) {
      refused += 1;
    } else {
      const what = `failed (${ending.type}): ${ending.message}`;
      findings.wrong.push({ subject: workflowId, what });
    }
    if (run.kind === "payout") comparePayout(run, ended, evidence, findings);
    else compareOnboarding(run, ended, evidence, findings);
  }
  compareBalances(evidence, findings);
  findStrangers(evidence, findings);
  const { duplicates, lost, stuck, wrong } = findings;
  return { completed, refused, duplicates, lost, wrong, stuck };
};
