import type { Send } from "../../src/index.ts";

/** A send, with what a test does not care about filled in. */
export const sendOf = (given: Partial<Send> = {}): Send => ({
  workflowId: "payout-1",
  step: "createPayout",
  number: 1,
  operation: "createPayout",
  runId: "run-1",
  key: "key-1",
  payloadHash: "hash-1",
  amount: "250.00",
  currency: "USD",
  isUndone: false,
  ...given,
});
