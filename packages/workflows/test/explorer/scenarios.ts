import type { Payout } from "@durable-payments/api-core";
import type { Budget, Payment, Scenario } from "./scenario.ts";

/** A payment; its reason names the step, and no list shows it. */
const payment = (step: string, changes: Partial<Payment> = {}): Payment => ({
  beneficiary_id: "beneficiary",
  amount: "100.00",
  currency: "USD",
  payout_reason: step,
  payout_reference: "invoice",
  payment_date: "2026-01-05",
  is_payer: "N",
  ...changes,
});

/** Equal payments by step: no list distinguishes them. */
const equal = (...steps: ReadonlyArray<string>) =>
  Object.fromEntries(steps.map((step) => [step, payment(step)]));

const NOTHING: Budget = {
  lostAnswers: 0,
  lostWorkers: 0,
  journalFaults: 0,
  rejections: 0,
  resets: 0,
  restores: 0,
  abandons: 0,
  cancels: 0,
};

const KEYLESS = {
  requestTimeoutMs: 1_000,
  listLagMs: 2_000,
  visibilityLagMs: 1_000,
  keys: "none",
} as const;
const KEYED = { ...KEYLESS, keys: "ours" } as const;

const one = { journal: "shared", runs: { a: equal("first") }, mayAsk: false } as const;

const inCapitals = (payout: Payout): Payout => ({
  ...payout,
  payout_reference: payout.payout_reference?.toUpperCase() ?? "",
});

const withItsOwnReference = (payout: Payout): Payout => ({
  ...payout,
  payout_reference: `PQ-${payout.payout_id}`,
});

/** Scenarios of which every state is seen within seconds. */
export const smallScenarios: ReadonlyArray<Scenario> = [
  {
    ...one,
    name: "the database is put back",
    service: KEYED,
    budget: { ...NOTHING, lostAnswers: 1, restores: 1 },
  },
  {
    ...one,
    name: "the journal fails, and the database is put back",
    service: KEYED,
    budget: { ...NOTHING, journalFaults: 1, restores: 1 },
  },
  {
    ...one,
    name: "the database is put back, and the run is cancelled",
    service: KEYED,
    budget: { ...NOTHING, lostAnswers: 1, restores: 1, cancels: 1 },
  },
  {
    ...one,
    name: "a run is reset",
    service: KEYED,
    budget: { ...NOTHING, lostAnswers: 1, resets: 1, abandons: 1 },
  },
  {
    ...one,
    name: "one run makes two equal payments",
    service: KEYLESS,
    runs: { a: equal("first", "second") },
    budget: { ...NOTHING, lostAnswers: 2 },
  },
  {
    ...one,
    name: "two runs make equal payments",
    mayAsk: true,
    service: KEYLESS,
    runs: { a: equal("first"), b: equal("first") },
    budget: { ...NOTHING, lostAnswers: 1 },
  },
  {
    ...one,
    name: "the list shows texts in another way",
    mayAsk: true,
    service: { ...KEYLESS, listed: inCapitals },
    budget: { ...NOTHING, lostAnswers: 1 },
  },
  {
    ...one,
    name: "the list shows its own in the place of a field",
    mayAsk: true,
    service: { ...KEYLESS, listed: withItsOwnReference },
    budget: { ...NOTHING, lostAnswers: 1 },
  },
  {
    ...one,
    name: "two runs pay two beneficiaries the same",
    mayAsk: true,
    service: KEYLESS,
    runs: {
      a: equal("first"),
      b: { first: payment("first", { beneficiary_id: "beneficiari" }) },
    },
    budget: { ...NOTHING, lostAnswers: 1 },
  },
  {
    ...one,
    name: "a run is cancelled, or ended by a person",
    mayAsk: true,
    service: { ...KEYLESS, listed: inCapitals },
    budget: { ...NOTHING, lostAnswers: 1, cancels: 1, abandons: 1 },
  },
  {
    ...one,
    name: "no journal is kept, and a run is reset",
    journal: "none",
    service: KEYED,
    budget: { ...NOTHING, lostAnswers: 1, resets: 1 },
  },
  {
    ...one,
    name: "no journal is kept, and a worker is disconnected",
    journal: "none",
    service: KEYED,
    budget: { ...NOTHING, lostWorkers: 1 },
  },
];

const twoRuns = { a: equal("first"), b: equal("first") };

/** Larger ones, for which it takes minutes. */
export const largeScenarios: ReadonlyArray<Scenario> = [
  {
    ...one,
    name: "a worker is disconnected from the server, and sends later",
    service: KEYED,
    budget: { ...NOTHING, lostWorkers: 1 },
  },
  {
    ...one,
    name: "a worker is disconnected, and the journal fails",
    service: KEYED,
    budget: { ...NOTHING, lostWorkers: 1, journalFaults: 1 },
  },
  {
    ...one,
    name: "a run of two equal steps is reset",
    mayAsk: true,
    service: KEYED,
    runs: { a: equal("first", "second") },
    budget: { ...NOTHING, lostAnswers: 1, resets: 1, abandons: 1 },
  },
  {
    ...one,
    name: "requests are rejected, and the database is put back",
    service: KEYED,
    budget: { ...NOTHING, lostAnswers: 1, rejections: 1, restores: 1 },
  },
  {
    ...one,
    name: "two runs make equal payments, and the keys are shown",
    service: KEYED,
    runs: twoRuns,
    budget: { ...NOTHING, lostAnswers: 2 },
  },
  {
    ...one,
    name: "two runs make equal payments, and both lose their answers",
    mayAsk: true,
    service: KEYLESS,
    runs: twoRuns,
    budget: { ...NOTHING, lostAnswers: 2 },
  },
  {
    ...one,
    name: "two runs make equal payments, and the service replaces the keys",
    mayAsk: true,
    service: { ...KEYLESS, keys: "its own" },
    runs: twoRuns,
    budget: { ...NOTHING, lostAnswers: 2 },
  },
  {
    ...one,
    name: "two runs pay two beneficiaries the same, and both lose their answers",
    mayAsk: true,
    service: KEYLESS,
    runs: {
      a: equal("first"),
      b: { first: payment("first", { beneficiary_id: "beneficiari" }) },
    },
    budget: { ...NOTHING, lostAnswers: 2 },
  },
  {
    ...one,
    name: "two runs make near payments, and the list shows texts in another way",
    mayAsk: true,
    service: { ...KEYLESS, listed: inCapitals },
    runs: {
      a: { first: payment("first", { payout_reference: "Invoice 7" }) },
      b: { first: payment("first", { payout_reference: "INVOICE 7" }) },
    },
    budget: { ...NOTHING, lostAnswers: 2 },
  },
];

/** Too large to see every state: random walks follow them. */
export const walkedScenarios: ReadonlyArray<Scenario> = [
  {
    ...one,
    name: "two runs make equal payments, lose answers, and the database is put back",
    mayAsk: true,
    service: KEYLESS,
    runs: twoRuns,
    budget: { ...NOTHING, lostAnswers: 2, restores: 1 },
  },
  ...(["ours", "its own", "none"] as const).map((keys) => ({
    ...one,
    name: `two runs make two equal payments each, and everything goes wrong (keys: ${keys})`,
    // A send that is absent again and again becomes a task.
    mayAsk: true,
    service: { ...KEYLESS, keys },
    runs: { a: equal("first", "second"), b: equal("first", "second") },
    budget: {
      lostAnswers: 3,
      lostWorkers: 1,
      journalFaults: 1,
      rejections: 1,
      resets: 1,
      restores: 1,
      abandons: 1,
      cancels: 1,
    },
  })),
];
