import { describe, expect, it } from "vitest";
import { figure, rowOf, tableOf } from "../src/row.ts";

describe("figure", () => {
  it.each([
    [0, "0"],
    [0.012345, "0.0123"],
    [1.005, "1"],
    [87.64, "87.6"],
    [1234.5, "1235"],
  ])("shows %d as %s", (value, text) => {
    expect(figure(value)).toBe(text);
  });
});

describe("tableOf", () => {
  const rows = [
    {
      name: "payout, replayed",
      unit: "µs of CPU",
      ours: [88, 90],
      baseline: [100, 100],
      target: { atMost: 1 },
    },
    {
      name: "onboarding, ledger in PostgreSQL",
      unit: "runs a second",
      ours: [0.5],
      baseline: [0.1],
      target: { atLeast: 0.3 },
    },
    { name: "more", unit: "requests", ours: [1e8], baseline: [1e6] },
  ];

  it("shows each row's figures, target and result", () => {
    expect(tableOf(rows.slice(0, 1)))
      .toBe(`          ours      baseline         ratio 95 % interval        target
payout, replayed, µs of CPU
            89           100          0.89     0.88–0.90           ≤ 1 met
`);
  });

  it("shows no comparison of a figure without a baseline", () => {
    expect(tableOf([rowOf("ledger", "bytes a payout", [1_399, NaN])]))
      .toBe(`          ours      baseline         ratio 95 % interval        target
ledger, bytes a payout
          1399             –             –             –
`);
  });

  it("fits 80 columns", () => {
    for (const line of tableOf(rows).split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });
});
