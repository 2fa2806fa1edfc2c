import type { Budget, Payment, World } from "./world.ts";

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

/** Equal payments by step: no list tells one from the other. */
const equal = (...steps: ReadonlyArray<string>) =>
  Object.fromEntries(steps.map((step) => [step, payment(step)]));

const NOTHING: Budget = { lostAnswers: 0, lostWorkers: 0, resets: 0, restores: 0, abandons: 0 };

const KEYLESS = { requestTimeoutMs: 1_000, listLagMs: 2_000, keys: "none" } as const;
const KEYED = { ...KEYLESS, keys: "ours" } as const;

const one = { visibilityLagMs: 1_000, runs: { a: equal("first") } } as const;

/** Worlds of which every state is seen within seconds. */
export const smallWorlds: ReadonlyArray<World> = [
  {
    ...one,
    name: "the database is put back",
    service: KEYED,
    budget: { ...NOTHING, lostAnswers: 1, restores: 1 },
  },
  {
    ...one,
    name: "a run is reset",
    service: KEYED,
    budget: { ...NOTHING, lostAnswers: 1, resets: 1, abandons: 1 },
  },
];

/** Larger ones, for which it takes minutes. */
export const largeWorlds: ReadonlyArray<World> = [
  {
    ...one,
    name: "a run of two equal steps is reset",
    service: KEYED,
    runs: { a: equal("first", "second") },
    budget: { ...NOTHING, lostAnswers: 1, resets: 1, abandons: 1 },
  },
];
