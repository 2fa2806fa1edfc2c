import type { Ledger, WriteRow } from "@durable-payments/ledger";

/** A write whose outcome is unknown. */
export const ROW: WriteRow = {
  account: "0123456789abcdef",
  workflowId: "run-1",
  step: "createPayout",
  operation: "createPayout",
  state: "unknown",
  version: 1,
  knownFrom: 1,
  epoch: 1,
  generation: 1,
  ownerId: "run-1",
  rootId: "run-1",
  request: {
    hash: "h",
    terms: "t",
    amount: "1.00",
    currency: "USD",
    payee: "b",
    reference: null,
    paymentDate: null,
    facts: {},
  },
  doubt: 1,
  token: null,
  closedBy: null,
  runId: "1",
  sends: 1,
  firstSentAt: 0,
  from: 0,
  until: 0,
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
};

/** Puts a row into a ledger, as it would be after other things have happened. */
export const putRow = async (ledger: Ledger, changes: Partial<WriteRow> = {}): Promise<void> => {
  const { workflowId = ROW.workflowId } = changes;
  const row = { ...ROW, ownerId: workflowId, rootId: workflowId, ...changes };
  const { account, step } = row;
  await ledger.transact({ account, workflowId, step }, ({ epoch }) => ({ row: { ...row, epoch } }));
};

/** The account of these rows. */
export const ACCOUNT = ROW.account;
