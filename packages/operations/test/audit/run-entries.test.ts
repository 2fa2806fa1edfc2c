import { historyFromJSON } from "@temporalio/common/lib/proto-utils.js";
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { entriesOfRun } from "../../src/audit/run-entries.ts";

const histories = new URL("../../../workflows/test/histories/", import.meta.url);

/** What the audit trail of a recorded run says of a step. */
const audited = async (name: string, step: string): Promise<ReadonlyArray<string>> => {
  const history: unknown = JSON.parse(await readFile(new URL(`${name}.json`, histories), "utf8"));
  return entriesOfRun(historyFromJSON(history), undefined, false)
    .filter((entry) => entry.step === step)
    .map(({ what }) => what);
};

it("a reading of the list is entered with what it found", async () => {
  expect(await audited("payout-found-after-lost-answer", "createPayout")).toContain(
    "list read: found",
  );
  expect(await audited("payout-abandoned-by-a-person", "createPayout")).toContain(
    "list read: absent",
  );
});

it("what was undone is entered, and what could not be", async () => {
  expect(await audited("onboarding-compensated", "confirmCard")).toEqual([
    "undoing (cancelCard)",
    "undone (cancelCard)",
    "undoing (removeCardholder)",
    "undone (removeCardholder)",
  ]);
  expect(await audited("onboarding-compensated-in-part", "confirmCard")).toContain(
    "could not undo (removeCardholder)",
  );
});
