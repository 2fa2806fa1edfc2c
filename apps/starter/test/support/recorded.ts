const RUN = { account: "a", runId: null, type: "payout", batch: null, batchRow: null } as const;

/** A run as its start records it. */
export const runOf = <Payment extends object>(workflowId: string, payment: Payment) => ({
  ...RUN,
  ...payment,
  workflowId,
});

/** Who has started it, by which flag. */
export const START = { by: "ada", how: "--by", value: { type: "payout", content: "c" } };

/** A file of payouts that is approved. */
export const batchOf = (id: string, file: string) => ({
  batch: {
    id,
    account: "a",
    type: "payout",
    file,
    contentHash: "c",
    rows: 1,
    state: "approved" as const,
    createdBy: "ada",
    createdAt: 0,
    approvedBy: null,
    details: "{}",
    chunks: 1,
  },
});
