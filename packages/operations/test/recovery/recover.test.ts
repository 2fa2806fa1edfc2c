import { openLedger } from "@durable-payments/ledger";
import { expect, test } from "vitest";
import { recover } from "../../src/recovery.ts";
import { put, row } from "../support/rows.ts";
import { operationsOn } from "../support/stub-client.ts";

const bob = { by: "Bob", how: "--by", reason: "restored" };
const activity = (name: string, activityId: string) => ({ activityId, activityType: { name } });

test("recover nudges who waits, also a run whose row the restore has lost", async () => {
  const ledger = await openLedger("memory");
  await put(ledger, row({ workflowId: "has-a-row" }));
  const { asked, operations } = operationsOn(ledger, "taken", {
    "lost-its-row": [],
    "lost-its-row-and-waits": [activity("awaitPayout", "awaitPayout:p-1")],
    "has-a-row": [activity("createPayout", "1")],
    "is-under-way": [activity("createPayout", "1")],
  });
  const nudged = () => asked.signals.map(([workflowId]) => workflowId);
  await recover(operations, { ...bob, isDryRun: true });
  expect(nudged()).toEqual([]);
  expect(await recover(operations, { ...bob, isDryRun: false })).toMatchObject({ waits: 1 });
  expect(nudged().toSorted()).toEqual(["has-a-row", "lost-its-row", "lost-its-row-and-waits"]);
});
