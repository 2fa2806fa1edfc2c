/*
 * Compares the money: the true records of the service, the results of the runs, and the ledger.
 *
 * Nothing here trusts the code under test: the records are those of the simulated service, read from that service.
 */
import { isRecord } from "@durable-payments/client/values";
import type { WriteRow } from "@durable-payments/ledger";
import * as Decimal from "effect/BigDecimal";
import type { Approved } from "../campaign.ts";
import { type Made, type PlannedRun, POLICY } from "../plan/planned-run.ts";
import { CAME_BACK, ON_ITS_WAY_MS } from "../service/service.ts";
import { type Evidence, type Find, isPayee, madeBy } from "./evidence.ts";
import { isSameAmount } from "./reports.ts";

/** Whether a write may have been carried out, and a person knows of it or it is still looked for. */
const isDoubted = ({ doubt, state }: WriteRow): boolean =>
  ["sending", "unknown", "asking"].includes(state) || (state === "ended" && doubt > 0);

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
  { restored: { forgottenBefore }, rows }: Evidence,
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

/** The field of a result by which a run says what it has made. */
const ID_FIELDS = {
  createPayout: "payout_id",
  createCardholder: "card_holder_id",
  createCard: "card_id",
} as const;

/** Finds what differs from what a run was to make, and from its result. */
const checkRun = (evidence: Evidence, find: Find, run: PlannedRun): void => {
  const { approval, makes, undoes = false, workflowId } = run;
  const { beneficiaries, made } = evidence.service;
  const ending = evidence.endings.get(workflowId) ?? { status: "open" };
  const wrong = (what: string) => find("wrong", workflowId, what);
  for (const [index, expected] of makes.entries()) {
    const { amounts, mark, operation } = expected;
    // A run that has undone its work makes it again when it is retried.
    const found = made.filter(
      (one) => one.operation === operation && one.mark === mark && !(undoes && one.isUndone),
    );
    const ids = found.map(({ at, id }) => `${id} at ${new Date(at).toISOString()}`).join(", ");
    if (found.length > 1) find("duplicate", workflowId, `${operation} made more than one: ${ids}`);
    for (const one of found) {
      const { amount, currency, payee: paidTo } = one;
      checkStaysEnded(evidence, find, workflowId, one);
      checkKnown(evidence, find, workflowId, one);
      const asks = approval !== undefined;
      checkApproved(evidence, find, { workflowId, amount, currency, asks });
      if (!amounts.some((allowed) => isSameAmount(allowed, amount))) {
        wrong(`the amount is ${amounts.join(" or ")}, made ${amount}`);
      }
      if (currency !== expected.currency) wrong(`made in ${currency}`);
      const payee = beneficiaries.find(({ beneficiary_id }) => beneficiary_id === paidTo);
      const isToPayee = payee !== undefined && isPayee(expected, payee);
      if (expected.beneficiaries !== undefined && !isToPayee) wrong(`paid to ${paidTo}`);
    }
    if (ending.status === "completed") {
      const result: unknown = Array.isArray(ending.result) ? ending.result[index] : ending.result;
      const said = isRecord(result) ? String(result[ID_FIELDS[operation]]) : "nothing";
      const { status } = found.find(({ id }) => id === said) ?? {};
      if (ids === "") find("lost", workflowId, `completed without what ${operation} makes`);
      else if (status === undefined) wrong(`says that ${operation} made ${said}, and it is ${ids}`);
      else if (status !== "completed" && !CAME_BACK.has(status))
        wrong(`completed, its payout ${status}`);
    }
    // Terminated runs undo nothing. After an end nothing is sent, no removal either.
    if (ending.status !== "failed" || !undoes || ids === "") continue;
    const isLeft = ["Terminated", "Ended"].includes(ending.type) || evidence.ended.has(workflowId);
    const isDoubtful = evidence.rows.some((row) => row.workflowId === workflowId && isDoubted(row));
    if (!isLeft && !isDoubtful) wrong(`failed (${ending.type}), and did not undo ${ids}`);
  }
};

/** Finds records that only the ledger has. */
const checkLedger = ({ rows, runs, service }: Evidence, find: Find): void => {
  for (const { madeId, operation, step, workflowId } of rows) {
    const run = runs.find((one) => one.workflowId === workflowId);
    // A beneficiary of the very same account may be taken.
    const isCompared = operation in ID_FIELDS;
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
  const known = new Set(runs.flatMap(({ makes }) => makes.map(({ mark }) => mark)));
  for (const { at, id, mark } of service.made) {
    if (!known.has(mark)) find("wrong", id, "is of no run");
    for (const { from, to, why } of quiet) {
      if (at > from && at < to) find("wrong", id, `made ${at - from} ms into ${why}`);
    }
  }
};

/** Compares the records of the service with the results of the runs and with the ledger. */
export const checkMoney = (evidence: Evidence, find: Find): void => {
  for (const run of evidence.runs) checkRun(evidence, find, run);
  checkLedger(evidence, find);
  checkBalances(evidence, find);
  checkMade(evidence, find);
};
