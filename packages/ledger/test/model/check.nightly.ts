import { describe, expect, test } from "vitest";
import { explore } from "./explore.ts";
import { large } from "./scenarios.ts";

const limit = Number(process.env["LEDGER_MODEL_STATES"] ?? 5_000_000);

describe("advance, for more of what may happen in any order", () => {
  test.each(Object.entries(large))("%s", { timeout: 3_600_000 }, (_, setting) => {
    const { fault, trace } = explore(setting, { limit });
    expect({ fault, trace }).toEqual({ fault: undefined, trace: [] });
  });
});
