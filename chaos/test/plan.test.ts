import { describe, expect, it } from "vitest";
import { money, moneyText, total } from "../src/evidence/exact-amount.ts";
import { planRuns, startingTimeMs } from "../src/plan/plan-runs.ts";
import { Random } from "../src/plan/random.ts";
import { drawTemper, LIST_LAG_SECONDS } from "../src/environment/temperament.ts";

const existing = [
  { id: "b-1", currency: "EUR" },
  { id: "b-2", currency: "USD" },
  { id: "b-3", currency: "GBP" },
] as const;

describe("the planned runs", () => {
  const runs = planRuns({ runs: 24, seed: 7 }, existing);

  it("follow from the seed alone", () => {
    expect(planRuns({ runs: 24, seed: 7 }, existing)).toEqual(runs);
    expect(planRuns({ runs: 24, seed: 8 }, existing)).not.toEqual(runs);
  });

  const payouts = runs.filter((run) => run.kind !== "onboarding");

  it("are onboardings and payouts, to new and to existing beneficiaries", () => {
    expect(payouts).toHaveLength(15);
    const payees = payouts.flatMap(({ payments }) => payments.map((one) => one.beneficiary));
    expect(payees.some((beneficiary) => "id" in beneficiary)).toBe(true);
    expect(payees.some((beneficiary) => "nickname" in beneficiary)).toBe(true);
  });

  it("are known in the ledger for certain, each by its own", () => {
    const marks = runs.flatMap((run) =>
      run.kind === "onboarding" ? [run.email] : run.payments.map(({ reason }) => reason),
    );
    expect(marks.length).toBeGreaterThan(24);
    expect(new Set(marks).size).toBe(marks.length);
    expect(new Set(runs.map(({ workflowId }) => workflowId)).size).toBe(24);
  });

  it("hold some that a list cannot tell apart, which start at the same moment", () => {
    const alike = runs.filter((run) => run.alike > 1);
    expect(alike.length).toBeGreaterThanOrEqual(7);
    const payees = new Set(
      payouts
        .filter((run) => run.alike === 3)
        .map((run) => JSON.stringify([run.startAtMs, run.payments[0].beneficiary])),
    );
    expect(payees.size).toBe(1);
  });

  it("hold each that ends by itself, by people or late, in a short plan as well", () => {
    const kinds = new Set(runs.map(({ kind, order }) => `${kind} ${order?.kind ?? ""}`.trim()));
    expect([...kinds]).toEqual(
      expect.arrayContaining([
        "payout",
        "payout abandon",
        "payout cancel",
        "payout retry",
        "payout terminate",
        "payTwice",
        "onboarding",
        "onboarding retry",
      ]),
    );
    expect(payouts.some(({ withinMs }) => withinMs !== undefined)).toBe(true);
    expect(payouts.some(({ payments }) => payments[0].settling === "fails")).toBe(true);
    const failures = runs.flatMap((run) => (run.kind === "onboarding" ? run.mayFailAs : []));
    expect(failures).toEqual(expect.arrayContaining(["VerificationOverdue", "FundsOverdue"]));
  });

  it("start in their time", () => {
    const latest = Math.max(...runs.map(({ startAtMs }) => startAtMs));
    expect(latest).toBeLessThanOrEqual(startingTimeMs(24));
  });
});

describe("the random numbers", () => {
  it("are others for another name, and stay in their bounds", () => {
    const [one, other] = ["one", "other"].map((name) => new Random(1, name));
    expect(one?.next()).not.toBe(other?.next());
    const drawn = Array.from({ length: 1_000 }, () => one?.int(1, 3) ?? 0);
    expect(new Set(drawn)).toEqual(new Set([1, 2, 3]));
  });
});

describe("the temperaments", () => {
  const drawn = Array.from({ length: 400 }, (_, seed) => drawTemper(seed).temperament);

  it("follow from the seed, and are drawn in combinations", () => {
    expect(drawTemper(7)).toEqual(drawTemper(7));
    const fields = new Set(drawn.flatMap((one) => Object.keys(one)));
    expect(fields.size).toBeGreaterThan(15);
    expect(drawn.some((one) => Object.keys(one).length > 5)).toBe(true);
  });

  it("let lists lag by less than the workers assume", () => {
    const lags = drawn.map(({ listLagMs }) => Number(listLagMs ?? 0));
    expect(Math.max(...lags)).toBeLessThan(LIST_LAG_SECONDS * 1_000);
    expect(drawTemper(1).assumptions["listLagSeconds"]).toBe(LIST_LAG_SECONDS);
  });
});

describe("money", () => {
  it("is added exactly", () => {
    expect(moneyText(total(["0.1", "0.2", "1000000000000.07"]))).toBe("1000000000000.37");
    expect(moneyText(money("-0.005"))).toBe("-0.005");
    expect(money("12.5")).toBe(money("12.50"));
  });

  it.each(["", "1.", "1e3", "0.123456789", "abc"])("is not %o", (text) => {
    expect(() => money(text)).toThrow("is no amount");
  });
});
