import { describe, expect, test } from "vitest";
import { explore } from "./explore.ts";
import { scenarios } from "./scenarios.ts";

const LIMIT = Number(process.env["LEDGER_MODEL_STATES"] ?? 10_000);

describe("advance, for everything that may happen in any order", () => {
  test.each(Object.entries(scenarios))("%s", (_, setting) => {
    const { fault, states, trace } = explore(setting, { limit: LIMIT });
    expect({ fault, trace }).toEqual({ fault: undefined, trace: [] });
    expect(states).toBeGreaterThan(20);
  });
});
