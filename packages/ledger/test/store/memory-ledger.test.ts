import { describe } from "vitest";
import { openLedger } from "../../src/index.ts";
import { describeLedger } from "../support/contract.ts";

describe("a ledger in memory", () => {
  const ledger = openLedger("memory");
  describeLedger(() => ledger);
});
