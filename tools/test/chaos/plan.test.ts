import { describe, expect, it } from "vitest";
import { money, moneyText, total } from "../../src/chaos/money.ts";
import { planRuns, startingTimeMs } from "../../src/chaos/planned-runs.ts";
import { Random } from "../../src/chaos/random.ts";

const existing = [
  { id: "b-1", currency: "EUR" },
  { id: "b-2", currency: "USD" },
] as const;

describe("the planned runs", () => {
  const runs = planRuns({ runs: 24, seed: 7 }, existing);

  it("follow from the seed alone", () => {
    expect(planRuns({ runs: 24, seed: 7 }, existing)).toEqual(runs);
    expect(planRuns({ runs: 24, seed: 8 }, existing)).not.toEqual(runs);
  });

  it("are half onboardings and half payouts, to new and to existing beneficiaries", () => {
    const payouts = runs.filter((run) => run.kind === "payout");
    expect(payouts).toHaveLength(12);
    expect(payouts.some(({ beneficiary }) => "id" in beneficiary)).toBe(true);
    expect(payouts.some(({ beneficiary }) => "nickname" in beneficiary)).toBe(true);
  });

  it("are known in the ledger for certain, each by its own", () => {
    const marks = runs.map((run) => (run.kind === "payout" ? run.reason : run.email));
    expect(new Set(marks).size).toBe(24);
    expect(new Set(runs.map(({ workflowId }) => workflowId)).size).toBe(24);
  });

  it("hold some that a list cannot tell apart, which start at the same moment", () => {
    const alike = runs.filter((run) => run.alike > 1);
    expect(alike.length).toBeGreaterThanOrEqual(7);
    const payees = new Set(
      alike
        .filter((run) => run.kind === "payout" && run.alike === 3)
        .map((run) => JSON.stringify([run.startAtMs, "beneficiary" in run && run.beneficiary])),
    );
    expect(payees.size).toBe(1);
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
