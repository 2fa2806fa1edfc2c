import { isRecord } from "@durable-payments/api-core/values";
import type { WriteRow } from "@durable-payments/ledger";
import * as Decimal from "effect/BigDecimal";
import type { Approved } from "../campaign.ts";
import {
  type Payment,
  type PlannedOnboarding,
  type PlannedPayout,
  POLICY,
} from "../plan/planned-run.ts";
import { type Made, ON_ITS_WAY_MS } from "../service/service.ts";
import { type Ending, type Evidence, type Find, isPayee, madeBy } from "./evidence.ts";

/** Whether a write may have been carried out, and a person knows of it or it is still looked for. */
const isDoubted = ({ doubt, state }: WriteRow): boolean =>
  ["sending", "unknown", "asking"].includes(state) || (state === "ended" && doubt > 0);

/** Whether two amounts are the same number, however they are written. */
const isSameAmount = (one: string, other: string): boolean =>
  Decimal.equals(Decimal.fromStringUnsafe(one), Decimal.fromStringUnsafe(other));

const isWithin = (amount: string, limit: string): boolean =>
  Decimal.isLessThanOrEqualTo(Decimal.fromStringUnsafe(amount), Decimal.fromStringUnsafe(limit));

/** Finds records made after a person ended their run; a frozen worker may still send what it was about to send. */
const checkStaysEnded = (
  { ended, frozen }: Evidence,
  find: Find,
  workflowId: string,
  { at, operation }: Made,
): void => {
  const endedAt = ended.get(workflowId);
  if (endedAt === undefined) return;
  const held = frozen.filter(({ from, to }) => from <= at && to >= endedAt);
  const allowed = Math.max(endedAt, ...held.map(({ to }) => to)) + ON_ITS_WAY_MS;
  const what = `${operation} was carried out ${at - endedAt} ms after its end`;
  if (at > allowed) find("wrong", workflowId, what);
};

/** Finds records that exist, and that the ledger knows neither as made nor as something that may have been made. */
const checkKnown = (
  { forgottenBefore, rows }: Evidence,
  find: Find,
  workflowId: string,
  { at, id, operation }: Made,
): void => {
  if (forgottenBefore !== undefined && at <= forgottenBefore) return;
  const known = rows.filter((row) => row.workflowId === workflowId && row.operation === operation);
  if (known.some((row) => row.madeId === id || isDoubted(row))) return;
  const states = known.map(({ madeId, state, step }) => `${step} ${state} ${madeId ?? ""}`);
  const what = `${operation} made ${id}, which the ledger does not know`;
  find("lost", workflowId, `${what} (${states.join(", ") || "no row"})`);
};

/** Finds what needed the approval of exactly its amount, and does not have it. */
const checkApproved = (
  { approved }: Evidence,
  find: Find,
  made: Approved & { readonly currency: string; readonly asks?: boolean },
): void => {
  const { amount, asks = false, currency, workflowId } = made;
  const limit = POLICY[currency] ?? "0";
  if (!asks && isWithin(amount, limit)) return;
  const isIt = (one: Approved) => one.workflowId === workflowId && isSameAmount(one.amount, amount);
  if (!approved.some(isIt)) find("unapproved", workflowId, `${amount} ${currency} was made`);
};

const checkPayment = (
  evidence: Evidence,
  find: Find,
  { run, payment, ending }: { run: PlannedPayout; payment: Payment; ending: Ending },
): void => {
  const { workflowId } = run;
  const { beneficiaries, made } = evidence.service;
  const found = made.filter(
    ({ mark, operation }) => operation === "createPayout" && mark === payment.reason,
  );
  const [payout, ...more] = found;
  if (payout === undefined) {
    if (ending.status === "completed") find("lost", workflowId, "completed without a payout");
    return;
  }
  if (more.length > 0) {
    const ids = found.map(({ at, id }) => `${id} at ${new Date(at).toISOString()}`);
    find("duplicate", workflowId, `${found.length} payouts instead of one: ${ids.join(", ")}`);
  }
  const { amount, currency, id, payee: paidTo, status } = payout;
  checkStaysEnded(evidence, find, workflowId, payout);
  checkKnown(evidence, find, workflowId, payout);
  const wrong = (what: string) => find("wrong", workflowId, what);
  if (!payment.amounts.some((one) => isSameAmount(one, amount))) {
    wrong(`the amount is ${payment.amounts.join(" or ")}, paid ${amount}`);
  }
  checkApproved(evidence, find, { workflowId, amount, currency, asks: run.approval !== undefined });
  if (currency !== payment.currency) wrong(`paid in ${currency}`);
  const payee = beneficiaries.find((one) => one.beneficiary_id === paidTo);
  if (payee === undefined || !isPayee(payment, payee)) wrong(`paid to ${paidTo}`);
  if (ending.status !== "completed") return;
  const index = run.payments.indexOf(payment);
  const said: unknown = Array.isArray(ending.result) ? ending.result[index] : ending.result;
  const saidId = isRecord(said) ? String(said["payout_id"]) : "nothing";
  if (saidId !== id) wrong(`says payout ${saidId}, and it is ${id}`);
  if (status !== "completed") wrong(`completed, its payout ${status}`);
};

const checkOnboarding = (
  evidence: Evidence,
  find: Find,
  { run, ending }: { readonly run: PlannedOnboarding; readonly ending: Ending },
): void => {
  const { cardLimits, email, undoes, workflowId } = run;
  // A run that has undone its work makes it again when it is retried.
  const made = evidence.service.made.filter(
    ({ isUndone, mark }) => mark === email && !(undoes && isUndone),
  );
  const cards = made.filter(({ operation }) => operation === "createCard");
  for (const one of made) {
    checkStaysEnded(evidence, find, workflowId, one);
    checkKnown(evidence, find, workflowId, one);
  }
  const holders = made.length - cards.length;
  if (holders > 1) find("duplicate", workflowId, `${holders} cardholders`);
  if (cards.length > 1) find("duplicate", workflowId, `${cards.length} cards`);
  for (const { amount, currency } of cards) {
    checkApproved(evidence, find, { workflowId, amount, currency });
    if (cardLimits.some((one) => isSameAmount(one, amount))) continue;
    find("wrong", workflowId, `the limit is ${cardLimits.join(" or ")}, given ${amount}`);
  }
  if (ending.status === "completed") {
    const said = isRecord(ending.result) ? ending.result : {};
    const isSaid = [said["card_holder_id"], said["card_id"]].every((id) =>
      made.some((one) => one.id === id),
    );
    if (!isSaid) find("lost", workflowId, "completed without its cardholder and card");
  } else if (ending.status === "failed" && undoes) {
    // Terminated runs undo nothing. After an end nothing is sent, no removal either.
    const isLeft = ["Terminated", "Ended"].includes(ending.type) || evidence.ended.has(workflowId);
    const isDoubtful = evidence.rows.some((row) => row.workflowId === workflowId && isDoubted(row));
    if (!isLeft && !isDoubtful && made.length > 0) {
      find("wrong", workflowId, `failed (${ending.type}), and what it made was not undone`);
    }
  }
};

/** Finds records that only the ledger has. */
const checkLedger = ({ rows, runs, service }: Evidence, find: Find): void => {
  for (const { madeId, operation, step, workflowId } of rows) {
    const run = runs.find((one) => one.workflowId === workflowId);
    // A beneficiary of the very same account may be taken.
    const isCompared = ["createPayout", "createCardholder", "createCard"].includes(operation);
    if (madeId === null || run === undefined || !isCompared) continue;
    const made = madeBy({ operation, step }, run, service);
    if (made.includes(madeId)) continue;
    const what = `the ledger has ${madeId} as made by ${step}, the service made`;
    find("lost", workflowId, `${what} ${made.join(", ") || "nothing"}`);
  }
};

/** The balances lack exactly the amounts that were paid out and put on cards. */
const checkBalances = ({ funds, service }: Evidence, find: Find): void => {
  const spent = service.made.filter(({ isUndone }) => !isUndone);
  for (const [currency, paidIn] of Object.entries(funds)) {
    const amounts = spent.filter((one) => one.currency === currency).map(({ amount }) => amount);
    const paidOut = Decimal.sumAll(amounts.map(Decimal.fromStringUnsafe));
    const due = Decimal.format(Decimal.subtract(Decimal.fromStringUnsafe(paidIn), paidOut));
    const left = service.balances.find((balance) => balance.currency === currency);
    // An account that was never opened is not short of money.
    if (left === undefined || isSameAmount(left.available_balance, due)) continue;
    find("wrong", `the ${currency} balance`, `is ${left.available_balance}, must be ${due}`);
  }
};

/** Everything that the service has is of a run, and nothing was made in a quiet time. */
const checkMade = ({ quiet, runs, service }: Evidence, find: Find): void => {
  const known = new Set(
    runs.flatMap((run) =>
      run.kind === "onboardCardholder" ? [run.email] : run.payments.map(({ reason }) => reason),
    ),
  );
  for (const { at, id, mark } of service.made) {
    if (!known.has(mark)) find("wrong", id, "is of no run");
    for (const { from, to, why } of quiet) {
      if (at > from && at < to) find("wrong", id, `made ${at - from} ms into ${why}`);
    }
  }
};

/** Compares the records of the service with the results of the runs and with the ledger. */
export const checkMoney = (evidence: Evidence, find: Find): void => {
  for (const run of evidence.runs) {
    const ending = evidence.endings.get(run.workflowId) ?? { status: "open" };
    if (run.kind === "onboardCardholder") checkOnboarding(evidence, find, { run, ending });
    else for (const payment of run.payments) checkPayment(evidence, find, { run, payment, ending });
  }
  checkLedger(evidence, find);
  checkBalances(evidence, find);
  checkMade(evidence, find);
};
