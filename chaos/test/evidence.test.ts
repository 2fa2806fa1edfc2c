import type { WriteRow } from "@durable-payments/ledger";
import { expect, it } from "vitest";
import { checkEndings } from "../src/evidence/endings.ts";
import type { Evidence, Finding } from "../src/evidence/evidence.ts";
import { checkMoney } from "../src/evidence/money.ts";
import { asMade } from "../src/service/service.ts";
import { Tally } from "../src/tally.ts";
import type { Made, PlannedRun } from "../src/plan/planned-run.ts";

const run: PlannedRun = {
  kind: "payout",
  workflowId: "w",
  account: undefined,
  startAtMs: 0,
  alike: 1,
  input: {},
  intervention: undefined,
  mayFailAs: [],
  makes: [
    {
      operation: "createPayout",
      step: "createPayout",
      mark: "Goods 1",
      amounts: ["12.5"],
      currency: "EUR",
      beneficiaries: [{ id: "b" }],
    },
  ],
};

const AT = Date.parse("2026-11-22T12:00:00.000Z");

const payout: Made = {
  operation: "createPayout",
  id: "p",
  at: AT,
  mark: "Goods 1",
  isUndone: false,
  amount: "12.50",
  currency: "EUR",
  status: "completed",
  payee: "b",
};

// What the comparison reads of a row.
const row = {
  workflowId: "w",
  step: "createPayout",
  operation: "createPayout",
  state: "done",
  madeId: "p",
  doubt: 0,
} as WriteRow;

const service = {
  balances: [{ currency: "EUR", available_balance: "87.50" }],
  beneficiaries: [
    { beneficiary_id: "b", details: { iban: "1", account_currency: "EUR" } },
    { beneficiary_id: "same", details: { iban: "1", account_currency: "EUR" } },
    { beneficiary_id: "other", details: { iban: "2", account_currency: "EUR" } },
  ],
  made: [payout],
  returning: 0,
};

const green: Evidence = {
  runs: [run],
  endings: new Map([["w", { status: "completed", result: { payout_id: "p" } }]]),
  rows: [row],
  service,
  funds: { EUR: "100.00" },
  back: new Set<string>(),
  ended: new Map(),
  interrupted: new Set(),
  approved: [],
  restored: {},
  quiet: [],
  frozen: [],
};

const verdicts = (change: Partial<Evidence>): ReadonlyArray<string> => {
  const found: Array<Finding["verdict"]> = [];
  const evidence = { ...green, ...change };
  checkMoney(evidence, (verdict) => found.push(verdict));
  checkEndings(evidence, (verdict) => found.push(verdict), new Tally());
  return found;
};

const toAccount = {
  ...run,
  makes: run.makes.map((one) => ({ ...one, beneficiaries: [{ payee: "1" }] })),
};

const paidTo = (payee: string) => ({ ...service, made: [{ ...payout, payee }] });

/** Its money is back in the balance. */
const cameBack = {
  ...service,
  made: [{ ...payout, status: "returned", isUndone: true }],
  balances: [{ currency: "EUR", available_balance: "100.00" }],
};

const payoutFailed: Evidence["endings"] = new Map([
  ["w", { status: "failed", type: "PayoutFailed", message: "It was not paid." }],
]);

const paidTwice = {
  ...service,
  made: [payout, { ...payout, id: "p2" }],
  balances: [{ currency: "EUR", available_balance: "75.00" }],
};

it.each<readonly [string, Partial<Evidence>, ReadonlyArray<string>]>([
  ["is as it must be", {}, []],
  ["was paid twice", { service: paidTwice }, ["duplicate", "lost"]],
  ["is not known by the ledger", { rows: [] }, ["lost"]],
  ["is lost", { endings: new Map([["w", { status: "missing" }]]) }, ["lost"]],
  [
    "was not paid before Temporal forgot it",
    {
      endings: new Map([["w", { status: "missing" }]]),
      restored: { isTemporalRestored: true },
      runs: [{ ...run, file: "f" }],
      rows: [],
      service: { ...service, made: [], balances: [] },
    },
    ["lost"],
  ],
  [
    "was paid before Temporal forgot it, so that its file starts nothing",
    {
      endings: new Map([["w", { status: "missing" }]]),
      restored: { isTemporalRestored: true },
      runs: [{ ...run, file: "f" }],
    },
    [],
  ],
  ["came back after its run had completed", { service: cameBack }, []],
  [
    "came back before its run saw that it had completed",
    { service: cameBack, back: new Set([payout.mark]), endings: payoutFailed },
    [],
  ],
  ["failed, and did not come back", { endings: payoutFailed }, ["wrong"]],
  [
    "failed, with a run that completed",
    { service: { ...cameBack, made: [{ ...payout, status: "failed", isUndone: true }] } },
    ["wrong"],
  ],
  ["was not made", { service: { ...service, made: [] } }, ["lost", "lost", "wrong"]],
  ["was made after its end", { ended: new Map([["w", AT - 60_000]]) }, ["wrong"]],
  ["was made in a pause", { quiet: [{ why: "the pause", from: AT - 1, to: AT + 1 }] }, ["wrong"]],
  [
    "has another amount",
    { service: { ...service, made: [{ ...payout, amount: "13" }] } },
    ["wrong", "wrong"],
  ],
  ["went to another beneficiary", { service: paidTo("same") }, ["wrong"]],
  [
    "went to another beneficiary of its account",
    { runs: [toAccount], service: paidTo("same") },
    [],
  ],
  ["went to another account", { runs: [toAccount], service: paidTo("other") }, ["wrong"]],
  ["had to be approved", { runs: [{ ...run, approval: "approve" }] }, ["unapproved"]],
  [
    "was approved",
    {
      runs: [{ ...run, approval: "approve" }],
      approved: [{ workflowId: "w", amount: "12.500" }],
    },
    [],
  ],
  [
    "was approved as another amount",
    {
      runs: [{ ...run, approval: "approve" }],
      approved: [{ workflowId: "w", amount: "12.51" }],
    },
    ["unapproved"],
  ],
  ["is unknown", { rows: [{ ...row, state: "unknown" }] }, ["stuck"]],
  ["is open", { endings: new Map([["w", { status: "open" }]]) }, ["stuck"]],
  [
    "failed without a cause",
    { endings: new Map([["w", { status: "failed", type: "Refused", message: "no" }]]) },
    ["wrong"],
  ],
])("a payout that %s", (_, change, found) => {
  expect(verdicts(change)).toEqual(found);
});

it("reads the amount of a card also if its request has a number", () => {
  const known = { id: "c", at: AT, isUndone: false };
  const card = asMade("createCard", { email: "a@example.com", card_limit: 12.5 }, known);
  expect(card).toMatchObject({ mark: "a@example.com", amount: "12.5", currency: "USD" });
});
