import { isRecord } from "@durable-payments/api-core/values";
import type { WriteRow } from "@durable-payments/ledger";
import {
  equals,
  format,
  fromStringUnsafe,
  isGreaterThanOrEqualTo,
  subtract,
  sumAll,
} from "effect/BigDecimal";
import {
  type Payment,
  type PlannedOnboarding,
  type PlannedPayout,
  POLICY,
} from "../plan/planned-run.ts";
import { type Ending, type Evidence, type Find, isPayee, madeBy } from "./evidence.ts";
import type { Approved } from "../campaign.ts";
import { ON_ITS_WAY_MS } from "../service/service.ts";

/** Whether a write may have been carried out, and a person knows of it or it is still looked for. */
const isDoubted = ({ doubt, state }: WriteRow): boolean =>
  ["sending", "unknown", "asking"].includes(state) || (state === "ended" && doubt > 0);

/** Whether two amounts are the same number, however they are written. */
const isSameAmount = (one: string, other: string): boolean =>
  equals(fromStringUnsafe(one), fromStringUnsafe(other));

/** Finds records made after a person ended their run; a frozen worker may still send what it was about to send. */
const checkStaysEnded = (
  { ended, frozen }: Evidence,
  find: Find,
  { at, name, workflowId }: { readonly workflowId: string; readonly name: string; at: number },
): void => {
  const endedAt = ended.get(workflowId);
  if (endedAt === undefined) return;
  const held = frozen.filter(({ from, to }) => from <= at && to >= endedAt);
  const allowed = Math.max(endedAt, ...held.map(({ to }) => to)) + ON_ITS_WAY_MS;
  if (at > allowed) find("wrong", workflowId, `${name} was made ${at - endedAt} ms after its end`);
};

/** Finds records that exist, and that the ledger knows neither as made nor as something that may have been made. */
const checkKnown = (
  { forgottenBefore, rows }: Evidence,
  find: Find,
  made: { readonly workflowId: string; readonly operation: string; id: string; at: number },
): void => {
  if (forgottenBefore !== undefined && made.at <= forgottenBefore) return;
  const known = rows.filter(
    ({ operation, workflowId }) => workflowId === made.workflowId && operation === made.operation,
  );
  if (known.some((row) => row.madeId === made.id || isDoubted(row))) return;
  const states = known.map(({ madeId, state, step }) => `${step} ${state} ${madeId ?? ""}`);
  const what = `${made.operation} made ${made.id}, which the ledger does not know`;
  find("lost", made.workflowId, `${what} (${states.join(", ") || "no row"})`);
};

/** Finds what needed the approval of exactly its amount, and does not have it. */
const checkApproved = (
  { approved }: Evidence,
  find: Find,
  made: Approved & { readonly currency: string; readonly asks?: boolean },
): void => {
  const { amount, asks = false, currency, workflowId } = made;
  const limit = POLICY[currency] ?? "0";
  if (!asks && isGreaterThanOrEqualTo(fromStringUnsafe(limit), fromStringUnsafe(amount))) return;
  const isIt = (one: Approved) => one.workflowId === workflowId && isSameAmount(one.amount, amount);
  if (!approved.some(isIt)) find("unapproved", workflowId, `${amount} ${currency} was made`);
};

const checkPayment = (
  evidence: Evidence,
  find: Find,
  { run, payment, ending }: { run: PlannedPayout; payment: Payment; ending: Ending },
): void => {
  const { workflowId } = run;
  const { beneficiaries, payouts } = evidence.service;
  const found = payouts.filter(({ payout_reason }) => payout_reason === payment.reason);
  const [payout, ...more] = found;
  if (payout === undefined) {
    if (ending.status === "completed") find("lost", workflowId, "completed without a payout");
    return;
  }
  if (more.length > 0) {
    const ids = found.map(({ create_time, payout_id }) => `${payout_id} at ${create_time}`);
    find("duplicate", workflowId, `${found.length} payouts instead of one: ${ids.join(", ")}`);
  }
  const { amount, beneficiary_id, create_time, currency, payout_id: id } = payout;
  const at = Date.parse(create_time);
  checkStaysEnded(evidence, find, { workflowId, name: "a payout", at });
  checkKnown(evidence, find, { workflowId, operation: "createPayout", id, at });
  const wrong = (what: string) => find("wrong", workflowId, what);
  if (!payment.amounts.some((one) => isSameAmount(one, amount))) {
    wrong(`the amount is ${payment.amounts.join(" or ")}, paid ${amount}`);
  }
  checkApproved(evidence, find, { workflowId, amount, currency, asks: run.approval !== undefined });
  if (currency !== payment.currency) wrong(`paid in ${currency}`);
  const payee = beneficiaries.find((one) => one.beneficiary_id === beneficiary_id);
  if (payee === undefined || !isPayee(payment, payee)) wrong(`paid to ${beneficiary_id}`);
  if (ending.status !== "completed") return;
  const index = run.payments.indexOf(payment);
  const said: unknown = Array.isArray(ending.result) ? ending.result[index] : ending.result;
  const saidId = isRecord(said) ? String(said["payout_id"]) : "nothing";
  if (saidId !== id) wrong(`says payout ${saidId}, and it is ${id}`);
  if (payout.payout_status !== "completed") wrong(`completed, its payout ${payout.payout_status}`);
};

const checkOnboarding = (
  evidence: Evidence,
  find: Find,
  { run, ending }: { readonly run: PlannedOnboarding; readonly ending: Ending },
): void => {
  const { cardLimits, email, undoes, workflowId } = run;
  const all = evidence.service.cardholders.filter((one) => one.email === email);
  const cards = evidence.service.cards.filter(({ card_holder_id }) =>
    all.some((one) => one.card_holder_id === card_holder_id),
  );
  // A run that has undone its work makes it again when it is retried.
  const holders = undoes ? all.filter(({ removed }) => !removed) : all;
  const live = undoes ? cards.filter(({ card_status }) => card_status !== "cancelled") : cards;
  const asMade = (name: string, operation: string) => (id: string, createTime: string) => ({
    id,
    name,
    operation,
    at: Date.parse(createTime),
  });
  const holder = asMade("a cardholder", "createCardholder");
  const card = asMade("a card", "createCard");
  const made = [
    ...holders.map(({ card_holder_id, create_time }) => holder(card_holder_id, create_time)),
    ...live.map(({ card_id, create_time }) => card(card_id, create_time)),
  ];
  for (const one of made) {
    checkStaysEnded(evidence, find, { workflowId, ...one });
    checkKnown(evidence, find, { workflowId, ...one });
  }
  if (holders.length > 1) find("duplicate", workflowId, `${holders.length} cardholders`);
  if (live.length > 1) find("duplicate", workflowId, `${live.length} cards`);
  for (const { card_limit } of live) {
    checkApproved(evidence, find, { workflowId, amount: card_limit, currency: "USD" });
    if (cardLimits.some((one) => isSameAmount(one, card_limit))) continue;
    find("wrong", workflowId, `the limit is ${cardLimits.join(" or ")}, given ${card_limit}`);
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
  const spent = [
    ...service.payouts.filter(({ returned }) => !returned),
    ...service.cards
      .filter(({ card_status }) => card_status !== "cancelled")
      .map(({ card_limit }) => ({ amount: card_limit, currency: "USD" })),
  ];
  for (const [currency, paidIn] of Object.entries(funds)) {
    const amounts = spent.filter((one) => one.currency === currency).map(({ amount }) => amount);
    const due = subtract(fromStringUnsafe(paidIn), sumAll(amounts.map(fromStringUnsafe)));
    const left = service.balances.find((balance) => balance.currency === currency);
    // An account that was never opened is not short of money.
    if (left === undefined) continue;
    const has = left.available_balance;
    if (isSameAmount(has, format(due))) continue;
    find("wrong", `the ${currency} balance`, `is ${has}, must be ${format(due)}`);
  }
};

/** Everything that the service has is of a run, and nothing was made in a quiet time. */
const checkMade = ({ quiet, runs, service }: Evidence, find: Find): void => {
  const known = new Set(
    runs.flatMap((run) =>
      run.kind === "onboardCardholder" ? [run.email] : run.payments.map(({ reason }) => reason),
    ),
  );
  const made = [
    ...service.payouts.map((one) => ({ mark: one.payout_reason, id: one.payout_id, ...one })),
    ...service.cardholders.map((one) => ({ mark: one.email, id: one.card_holder_id, ...one })),
    ...service.cards.map((one) => ({ mark: undefined, id: one.card_id, ...one })),
  ];
  for (const { create_time, id, mark } of made) {
    if (mark !== undefined && !known.has(mark)) find("wrong", id, "is of no run");
    const at = Date.parse(create_time);
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
