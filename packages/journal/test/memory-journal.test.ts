import { describe } from "vitest";
import { type Journal, makeMemoryJournal } from "../src/index.ts";
import { describeJournal } from "./support/contract.ts";

describe("a journal in memory", () => {
  describeJournal(async (): Promise<Journal> => makeMemoryJournal());
});
