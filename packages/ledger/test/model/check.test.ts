import { describe, expect, test } from "vitest";
import { explore } from "./explore.ts";
import { scenarios } from "./scenarios.ts";

const all = Object.entries(scenarios).filter(
  ([name]) => !/^(?:keyed|sent again|idempotent|ledger)/u.test(name),
);

describe("advance, for everything that may happen in any order", () => {
  test.each(all)("%s", (_, setting) => {
    const { fault, isComplete, trace } = explore(setting);
    expect({ fault, trace, isComplete }).toEqual({ fault: undefined, trace: [], isComplete: true });
  });
});
