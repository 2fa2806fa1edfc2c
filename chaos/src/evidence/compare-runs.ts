import { equals } from "effect/BigDecimal";
import type { EndedRun, Ending } from "./run-endings.ts";
import type { Evidence } from "./evidence.ts";
import { type Due, fieldsOf, type Findings } from "./findings.ts";
import type { PayoutRecord } from "../environment/simulator-ledger.ts";
import { isSameAmount, parseAmount } from "./exact-amount.ts";
import { amountOf } from "../operator/compare-row.ts";
import { VERIFY_AFTER_MS } from "../environment/simulator-timing.ts";
import type { Payment, PlannedOnboarding, PlannedPayout, PlannedRun } from "../plan/planned-run.ts";

/** The simulator's words for an injected refusal. */
const INJECTED = "Refused on demand";

/** How many writes that leave something in the ledger a run has done before each operation. */
const WRITES_BEFORE: Readonly<Record<PlannedRun["kind"], Readonly<Record<string, number>>>> = {
  payout: { createBeneficiary: 0, createPayout: 0 },
  // Nothing shows which of its two payouts was refused.
  payTwice: {},
  onboarding: {
    createCardholder: 0,
    createBalance: 1,
    retrieveBalance: 1,
    createCard: 1,
    updateCard: 2,
  },
};

/** How many writes a run has done before it ended by a failure of this type. */
const WRITES_BEFORE_FAILURE: Readonly<Record<string, number>> = {
  PayoutFailed: 1,
  CardholderRemoved: 1,
  VerificationOverdue: 1,
  VerificationRefused: 1,
  FundsOverdue: 1,
};

/** Whether a run was refused by an injected fault. */
export const isRefusedByFault = (ending: Ending): boolean =>
  ending.status === "failed" && ending.type === "Refused" && ending.message.includes(INJECTED);

/** Whether a run must have done its first or second write. */
const dueOf = (run: PlannedRun, ending: Ending, write: 1 | 2): Due => {
  if (ending.status === "open") return "either";
  if (ending.status === "completed") return "one";
  const { operation = "", type } = ending;
  const done =
    type === "Refused" ? WRITES_BEFORE[run.kind][operation] : WRITES_BEFORE_FAILURE[type];
  // Ended by people: before, while or after it was sent.
  if (done === undefined) return "either";
  return done >= write ? "one" : "none";
};

/** How much later than its end a run may see what happened before it. */
const LAST_POLL_MS = 5_000;

/** How long a request, and what it waits for, may go on after a run was cancelled or terminated. */
const STILL_SENT_MS = 20_000;

type Facts = Pick<Evidence, "abandoned" | "ended" | "inDoubt" | "restored">;

/** Check that what people have ended is not paid later. */
const checkStaysEnded = (
  { workflowId }: PlannedRun,
  { create_time }: { readonly create_time: string },
  { abandoned, ended }: Facts,
  findings: Findings,
): void => {
  const at = Date.parse(create_time);
  const decidedAt = abandoned.get(workflowId);
  if (decidedAt !== undefined && at > decidedAt) {
    findings.wrong.push({ subject: workflowId, what: "paid after it was abandoned" });
  }
  const endedAt = ended.get(workflowId);
  if (endedAt !== undefined && at > endedAt + STILL_SENT_MS) {
    findings.wrong.push({ subject: workflowId, what: "paid long after it was ended" });
  }
};

/** Check what exists although its run did not complete: the run knows it, or is listed as in doubt. */
const checkIsExplained = (
  { workflowId }: PlannedRun,
  { ending, ids }: EndedRun,
  { id, name }: { readonly id: string; readonly name: string },
  { inDoubt }: Facts,
  findings: Findings,
): boolean => {
  const isKnown = ids.includes(id);
  if (ending.status !== "open" && !isKnown && !inDoubt.has(workflowId)) {
    findings.lost.push({
      subject: workflowId,
      what: `a ${name} exists, and no list of runs in doubt shows its run`,
    });
  }
  return isKnown;
};

/** Compare what a completed run says of a payout with the payout. */
const compareResult = (
  { withinMs, workflowId }: PlannedPayout,
  { closedAt, startedAt }: EndedRun,
  { payout, said }: { readonly payout: PayoutRecord; readonly said: Record<string, unknown> },
  { restored }: Facts,
  findings: Findings,
): void => {
  const wrong = (what: string) => findings.wrong.push({ subject: workflowId, what });
  const { amount, payout_id, payout_status, update_time } = payout;
  findings.fields(workflowId, said, { payout_id });
  const saidAmount = said["amount"] ?? undefined;
  if (saidAmount !== undefined) {
    const read = amountOf(saidAmount);
    if (read === undefined || !equals(read, parseAmount(amount))) {
      wrong(`the amount is ${JSON.stringify(saidAmount)}, in the ledger ${amount}`);
    }
  }
  const isDone = typeof said["complete_time"] === "string";
  if (isDone) {
    if (payout_status !== "completed") wrong(`says that it is done, and it is ${payout_status}`);
    else if (closedAt < Date.parse(update_time)) wrong("said that it was done before it was");
    return;
  }
  if (withinMs === undefined) wrong("completed before the payout had ended");
  else if (closedAt - startedAt < withinMs) wrong(`ended before its ${withinMs} ms were over`);
  if (!restored && payout_status !== "processing") {
    if (Date.parse(update_time) < closedAt - LAST_POLL_MS) {
      wrong(`says that it is not done yet, and it is ${payout_status}`);
    }
  }
};

const comparePayment = (
  run: PlannedPayout,
  payment: Payment,
  ended: EndedRun,
  { facts, ledger, said }: Compared & { readonly said: Record<string, unknown> },
  findings: Findings,
): void => {
  const { workflowId } = run;
  const { ending, ids } = ended;
  const payout = findings.one(workflowId, "payout", {
    found: ledger.payouts.filter(({ payout_reason }) => payout_reason === payment.reason),
    due: dueOf(run, ending, 1),
  });
  if (payout === undefined) return;
  const { amount, beneficiary_id, currency, payout_id } = payout;
  checkStaysEnded(run, payout, facts, findings);
  if (!payment.amounts.some((one) => isSameAmount(one, amount))) {
    findings.wrong.push({
      subject: workflowId,
      what: `the amount is ${payment.amounts.join(" or ")}, in the ledger ${amount}`,
    });
  }
  const { beneficiary } = payment;
  if ("id" in beneficiary) {
    findings.fields(workflowId, { beneficiary_id: beneficiary.id }, { beneficiary_id });
  } else {
    const paid = ledger.beneficiaries.find((one) => one.beneficiary_id === beneficiary_id);
    const nickname = paid?.details["nickname"];
    findings.fields(workflowId, { nickname: beneficiary.nickname }, { nickname });
  }
  findings.fields(workflowId, { currency: payment.currency }, { currency });
  if (ending.status !== "completed") {
    checkIsExplained(run, ended, { id: payout_id, name: "payout" }, facts, findings);
    return;
  }
  const key = payout.unique_request_id;
  findings.findable(workflowId, ids, [payout_id, ...(key === undefined ? [] : [key])]);
  compareResult(run, ended, { payout, said }, facts, findings);
};

/** What a run is compared with. */
export interface Compared {
  readonly ledger: Evidence["ledger"];
  readonly facts: Facts;
}

/** Compare a run with the payouts that it made. */
export const comparePayouts = (
  run: PlannedPayout,
  ended: EndedRun,
  compared: Compared,
  findings: Findings,
): void => {
  const { ending } = ended;
  const result = ending.status === "completed" ? ending.result : undefined;
  const results: readonly unknown[] = Array.isArray(result) ? result : [result];
  for (const [index, payment] of run.payments.entries()) {
    const said = { ...fieldsOf(results[index]) };
    comparePayment(run, payment, ended, { ...compared, said }, findings);
  }
};

/** Compare an onboarding with the cardholder and the card that it made, or has undone again. */
export const compareOnboarding = (
  run: PlannedOnboarding,
  ended: EndedRun,
  { facts, ledger }: Compared,
  findings: Findings,
): void => {
  const { card_name = "", workflowId } = run;
  const { ending, ids } = ended;
  const isLive = ending.status !== "failed" || !run.undoes;
  const isTerminated = ending.status === "failed" && ending.type === "Terminated";
  const all = ledger.cardholders.filter(({ email }) => email === run.email);
  // A run that has undone its work begins anew when it is retried.
  const holders = run.undoes ? all.filter(({ removed }) => !removed) : all;
  const due = (write: 1 | 2): Due => {
    const asDone = dueOf(run, ending, write);
    return isLive ? asDone : isTerminated || asDone === "either" ? "either" : "none";
  };
  const holder = findings.one(workflowId, "cardholder", { found: holders, due: due(1) });
  const cards = ledger.cards.filter(({ card_holder_id }) =>
    all.some((one) => one.card_holder_id === card_holder_id),
  );
  const card = findings.one(workflowId, "card", {
    found: run.undoes ? cards.filter(({ card_status }) => card_status !== "cancelled") : cards,
    due: due(2),
  });
  if (card !== undefined) checkStaysEnded(run, card, facts, findings);
  if (ending.status !== "completed") {
    const made = [
      ...(holder === undefined ? [] : [{ id: holder.card_holder_id, name: "cardholder" }]),
      ...(card === undefined ? [] : [{ id: card.card_id, name: "card" }]),
    ];
    for (const one of made) {
      const isKnown = checkIsExplained(run, ended, one, facts, findings);
      if (!isLive && !isTerminated && isKnown && !facts.inDoubt.has(workflowId)) {
        findings.wrong.push({ subject: workflowId, what: `its ${one.name} was not undone` });
      }
    }
    return;
  }
  if (holder === undefined || card === undefined) return;
  const { card_holder_id } = holder;
  const { card_id, card_limit } = card;
  if (Date.parse(card.create_time) < Date.parse(holder.create_time) + VERIFY_AFTER_MS) {
    findings.wrong.push({ subject: workflowId, what: "its card is older than the identity check" });
  }
  findings.fields(
    workflowId,
    { card_status: "live", removed: false },
    {
      card_status: card.card_status === "cancelled" ? "cancelled" : "live",
      removed: holder.removed,
    },
  );
  if (!run.card_limits.some((one) => isSameAmount(one, card_limit))) {
    findings.wrong.push({
      subject: workflowId,
      what: `the card_limit is ${run.card_limits.join(" or ")}, in the ledger ${card_limit}`,
    });
  }
  findings.findable(workflowId, ids, [card_holder_id, card_id, card.unique_request_id]);
  const said = fieldsOf(ending.result);
  findings.fields(
    workflowId,
    { ...said, card_name },
    { card_holder_id, card_id, card_name: card.card_name },
  );
};
