import { describe, expect, test } from "vitest";
import { explore } from "./explore.ts";
import { large } from "./scenarios.ts";

// As many as fit into the heap that Node takes by itself.
const limit = Number(process.env["LEDGER_MODEL_STATES"] ?? 3_500_000);

describe("advance, for more of what may happen in any order", () => {
  test.each(Object.entries(large))("%s", { timeout: 3_600_000 }, (name, setting) => {
    const { fault, isComplete, states, trace } = explore(setting, { limit });
    // What was cut short is shown: that nothing was found says less of it.
    process.stderr.write(
      `${name}: ${states.toLocaleString("en")} states, ${isComplete ? "complete" : "CUT SHORT"}\n`,
    );
    expect({ fault, trace }).toEqual({ fault: undefined, trace: [] });
  });
});
