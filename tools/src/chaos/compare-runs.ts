import type { EndedRun, Ending } from "./endings.ts";
import { fieldsOf, type Findings } from "./findings.ts";
import type { Ledger } from "./ledger.ts";
import type { PlannedOnboarding, PlannedPayout, PlannedRun } from "./planned-runs.ts";

/** The simulator's words for a refusal that was ordered. */
const INJECTED = "Refused on demand";

/** How many writes that leave something in the ledger a run has done before each operation. */
const WRITES_BEFORE: Readonly<Record<PlannedRun["kind"], Readonly<Record<string, number>>>> = {
  payout: { createBeneficiary: 0, createPayout: 0 },
  onboarding: {
    createCardholder: 0,
    createBalance: 1,
    retrieveBalance: 1,
    createCard: 1,
    updateCard: 2,
  },
};

/** Whether the service refused what it was ordered to refuse. */
export const isRefusedOnDemand = (ending: Ending): boolean =>
  ending.status === "failed" && ending.type === "Refused" && ending.message.includes(INJECTED);

/** Whether a run must have done its first or second write; undefined while it is open. */
const isDue = (run: PlannedRun, ending: Ending, write: 1 | 2): boolean | undefined => {
  switch (ending.status) {
    case "open":
      return undefined;
    case "completed":
      return true;
    case "failed":
      return (WRITES_BEFORE[run.kind][ending.operation ?? ""] ?? 0) >= write;
  }
};

/** Compares a payout run with the payout that it made. */
export const comparePayout = (
  run: PlannedPayout,
  { ending, ids }: EndedRun,
  { echoKeys, ledger }: { readonly echoKeys: boolean; readonly ledger: Ledger },
  findings: Findings,
): void => {
  const { beneficiary, workflowId } = run;
  const payout = findings.one(workflowId, "payout", {
    found: ledger.payouts.filter(({ payout_reason }) => payout_reason === run.reason),
    isDue: isDue(run, ending, 1),
  });
  if (payout === undefined) return;
  const { amount, beneficiary_id, currency, payout_id, payout_status, short_reference } = payout;
  findings.amount(workflowId, run.amount, amount);
  if ("id" in beneficiary) {
    findings.fields(workflowId, { beneficiary_id: beneficiary.id }, { beneficiary_id });
  } else {
    const paid = ledger.beneficiaries.find((one) => one.beneficiary_id === beneficiary_id);
    const nickname = paid?.details["nickname"];
    findings.fields(workflowId, { nickname: beneficiary.nickname }, { nickname });
  }
  findings.fields(workflowId, { currency: run.currency }, { currency });
  findings.findable(workflowId, ids, [
    payout_id,
    ...(echoKeys ? [payout.unique_request_id ?? "a key"] : []),
  ]);
  if (ending.status !== "completed") return;
  const said = fieldsOf(ending.result);
  findings.amount(workflowId, said["amount"], amount);
  findings.fields(workflowId, said, { currency, payout_id, payout_status, short_reference });
  if (payout_status !== "completed" || typeof said["complete_time"] !== "string") {
    findings.wrong.push({ subject: workflowId, what: "says that it is done before it is paid" });
  }
};

/** Compares an onboarding with the cardholder and the card that it made, or has undone again. */
export const compareOnboarding = (
  run: PlannedOnboarding,
  { ending, ids }: EndedRun,
  { ledger }: { readonly ledger: Ledger },
  findings: Findings,
): void => {
  const { card_name = "", workflowId } = run;
  const isUndone = ending.status === "failed" && run.undoes;
  const holders = ledger.cardholders.filter(({ email }) => email === run.email);
  const holder = findings.one(workflowId, "cardholder", {
    found: holders,
    isDue: isDue(run, ending, 1),
  });
  const card = findings.one(workflowId, "card", {
    found: ledger.cards.filter(({ card_holder_id }) =>
      holders.some((one) => one.card_holder_id === card_holder_id),
    ),
    isDue: isDue(run, ending, 2),
  });
  if (holder === undefined) return;
  const { card_holder_id, removed } = holder;
  findings.fields(workflowId, { removed: isUndone }, { removed });
  findings.findable(workflowId, ids, [card_holder_id]);
  if (card === undefined) return;
  const { card_id, card_limit, card_status } = card;
  const isCancelled = card_status === "cancelled";
  findings.fields(workflowId, { isCancelled: isUndone }, { isCancelled });
  findings.amount(workflowId, run.card_limit, card_limit);
  findings.findable(workflowId, ids, [card_id, card.unique_request_id]);
  if (ending.status !== "completed") return;
  const said = fieldsOf(ending.result);
  findings.amount(workflowId, said["card_limit"], card_limit);
  findings.fields(
    workflowId,
    { ...said, card_name },
    { card_holder_id, card_id, card_name: card.card_name },
  );
};
