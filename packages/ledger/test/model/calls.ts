import { advance } from "../../src/index.ts";
import type { Call, WriteEvent, WriteRow } from "../../src/index.ts";
import type { Look, NewDecision } from "../../src/store/ledger.ts";
import { scenarios } from "./scenarios.ts";
import { lookAt, start } from "./world.ts";

const setting = scenarios["paused"];
export const { policy } = setting;

/** Nothing is known but the start. */
export const empty: Look = { ...lookAt(start(setting)), pause: undefined };
export const request = {
  hash: "A",
  terms: "A",
  amount: "250.00",
  currency: "EUR",
  payee: null,
  reference: null,
  paymentDate: null,
  facts: {},
};
export const call: Call = {
  name: { account: "a", workflowId: "w", step: "s" },
  operation: "createPayout",
  request,
  runId: "r1",
  testimony: { is: "none" },
  mode: "send",
  mayAmend: false,
  ownerId: "w",
  rootId: "w",
  root: { id: "w", firstRunId: "run" },
};
export const calledBy = (change: Partial<Call> = {}): WriteEvent => ({
  who: "w",
  is: "called",
  call: { ...call, ...change },
});
const rowOf = (change: Partial<WriteRow>): WriteRow => {
  const { row } = advance(empty, { who: "w", is: "dispatching", token: "1:x", call }, policy);
  return { ...row!, version: 1, ...change };
};
export const withRow = (change: Partial<WriteRow>): Look => ({ ...empty, row: rowOf(change) });

export const decision = (change: Partial<NewDecision>): NewDecision => ({
  account: "a",
  workflowId: "w",
  step: "s",
  kind: "approve",
  question: null,
  by: "ada",
  how: "",
  reason: null,
  value: {},
  ...change,
});
