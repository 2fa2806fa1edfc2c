import type { Ledger, Question, RecordedWrite, Run, Standing } from "@durable-payments/ledger";
import type { Evidence } from "../../src/rules/standing.ts";

/** Hash of the account of the tests. */
export const ACCOUNT = "0123456789abcdef";

/** An open run as the ledger has it. */
export const run = (more: Partial<Run> = {}): Run => ({
  workflowId: "invoice-17",
  account: ACCOUNT,
  runId: "run-1",
  type: "payout",
  startedBy: "ada",
  batch: null,
  batchRow: null,
  amount: "250.00",
  currency: "EUR",
  payee: "b-1",
  alias: null,
  namedAs: null,
  reference: null,
  startedAt: 0,
  endState: null,
  endedAt: null,
  endType: null,
  endReason: null,
  endStep: null,
  endFacts: null,
  endGroup: null,
  isStopped: false,
  planned: "open",
  status: "running",
  ...more,
});

/** A run of which nothing more is known. */
export const nothing: Evidence = { run: run(), rows: [], waits: [], pauses: [], now: 1 };

const STANDINGS: Readonly<Partial<Record<string, Standing>>> = {
  asking: "asking",
  unknown: "unknown",
  refused: "refused",
  ended: "stopped",
  done: "made",
};

/** A question about an outcome. */
export const question = (more: Partial<Question> = {}): Question => ({
  id: "q1",
  kind: "outcome",
  reason: "The list shows two payouts that may be it.",
  candidates: [],
  account: null,
  since: 1_000,
  ...more,
});

/** A write of 250.00 EUR as the ledger has it. */
export const row = (more: Partial<RecordedWrite> = {}): RecordedWrite => ({
  account: ACCOUNT,
  workflowId: "invoice-17",
  ownerId: more.workflowId ?? "invoice-17",
  rootId: more.workflowId ?? "invoice-17",
  step: "createPayout",
  operation: "createPayout",
  state: "ready",
  version: 1,
  knownFrom: 1,
  epoch: 1,
  generation: 1,
  request: {
    hash: "h",
    terms: "t",
    amount: "250.00",
    currency: "EUR",
    payee: "b-1",
    reference: "Invoice 17",
    paymentDate: null,
    facts: {},
  },
  doubt: 0,
  token: null,
  closedBy: null,
  readAfter: null,
  runId: "run-1",
  sends: 0,
  firstSentAt: null,
  from: null,
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
  createdAt: 0,
  changedAt: 0,
  standing: STANDINGS[more.state ?? ""] ?? "open",
  word: null,
  wordSince: null,
  wordAsks: false,
  wordUnlisted: false,
  decidedWord: null,
  problem: null,
  outcomeAt: null,
  ...more,
});

/** Writes a row, and its run, into a ledger. */
export const put = async (ledger: Ledger, given: RecordedWrite): Promise<void> => {
  const { account, request, step, workflowId } = given;
  const { amount, currency, payee, reference } = request;
  const run = {
    account,
    workflowId,
    amount,
    currency,
    payee,
    reference,
    runId: given.runId,
    type: "payout",
    batch: null,
    batchRow: null,
  };
  const value = { type: "payout", content: "c" };
  await ledger.recordStart(run, { by: "ada", how: "--by", value });
  await ledger.transact({ account, workflowId, step }, (look) => ({
    row: { ...given, epoch: look.epoch, createdAt: look.now, changedAt: look.now },
    entries: [{ who: "test", what: "made by hand", details: {} }],
  }));
};
