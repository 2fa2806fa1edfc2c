import type {
  Change,
  JsonObject,
  Look,
  NewBatch,
  NewDecision,
  NewRun,
  NewStart,
  StartFacts,
  WriteName,
  WriteRow,
} from "../../src/index.ts";

export const nameOf = (given: Partial<WriteName> = {}): WriteName => ({
  account: "account-1",
  workflowId: "payout-1",
  step: "createPayout",
  ...given,
});

/** A row that is being sent, with what a test does not care about filled in. */
export const rowOf = (
  name: WriteName,
  look: Pick<Look, "epoch" | "now">,
  given: Partial<WriteRow> = {},
): WriteRow => ({
  ...name,
  ownerId: name.workflowId,
  rootId: name.workflowId,
  operation: "createPayout",
  state: "sending",
  version: 0,
  knownFrom: 1,
  epoch: look.epoch,
  generation: 1,
  request: {
    hash: "hash-1",
    terms: "terms-1",
    amount: "250.00",
    currency: "USD",
    payee: "B-1",
    reference: "Invoice 17",
    paymentDate: null,
    facts: { holder: "Grace Hopper" },
  },
  doubt: 0,
  token: `${look.epoch}:random`,
  closedBy: null,
  runId: "run-1",
  sends: 1,
  firstSentAt: look.now,
  from: look.now,
  until: null,
  absences: 0,
  unprovableSince: null,
  madeId: null,
  result: null,
  knownBy: null,
  message: null,
  question: null,
  decisionsAfter: 0,
  mustNotify: false,
  createdAt: look.now,
  changedAt: look.now,
  ...given,
});

/** Returns what makes or changes a row, with a line in the log. */
export const saving =
  (name: WriteName, given: Partial<WriteRow> = {}) =>
  (look: Look): Change => ({
    row: { ...(look.row ?? rowOf(name, look)), changedAt: look.now, ...given },
    entries: [{ who: "worker-1", what: "sent", details: { to: "Grace Hopper" } }],
  });

export const made = (id: string): Partial<WriteRow> => ({
  state: "done",
  madeId: id,
  result: { payout_id: id },
  knownBy: "answer",
});

export const decisionOf = (given: Partial<NewDecision> = {}): NewDecision => ({
  account: "account-1",
  workflowId: "payout-1",
  step: null,
  kind: "end",
  question: null,
  by: "ada",
  how: "terminal",
  reason: "fraud of Mallory",
  value: {} satisfies JsonObject,
  ...given,
});

export const runOf = (given: Partial<NewRun> = {}): NewRun => ({
  account: "account-1",
  workflowId: "payout-1",
  runId: null,
  type: "payout",
  batch: null,
  batchRow: null,
  amount: "250.00",
  currency: "USD",
  payee: "mark-1",
  reference: "Invoice 17",
  ...given,
});

export const startOf = (value: Partial<StartFacts> = {}, by = "ada"): NewStart => ({
  by,
  how: "terminal",
  value: { type: "payout", content: "content-1", ...value },
});

export const ADA = { by: "ada", how: "terminal", reason: "as agreed" };

export const batchOf = (id: string): NewBatch => ({
  id,
  account: "account-1",
  type: "payout",
  file: "may.csv",
  contentHash: "c",
  rows: 3,
  state: "needsApproval",
  createdBy: "ada",
  createdAt: 0,
  approvedBy: null,
  details: "{}",
  chunks: 1,
});
