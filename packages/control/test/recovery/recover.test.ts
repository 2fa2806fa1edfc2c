import { openLedger } from "@durable-payments/ledger";
import { expect, test } from "vitest";
import { recover } from "../../src/actions/recovery.ts";
import { ACCOUNT, put, row } from "../support/rows.ts";
import { operationsOn } from "../support/stub-client.ts";

const bob = { by: "Bob", how: "--by", reason: "restored" };
const activity = (name: string, activityId: string, taskQueue = "payments") => ({
  activityId,
  activityType: { name },
  activityOptions: { taskQueue: { name: taskQueue } },
});

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

test("a wait that a lost ledger has forgotten is recorded for the account whose queue it has", async () => {
  const ledger = await openLedger("memory");
  const { operations } = operationsOn(ledger, "taken", {
    home: [activity("awaitPayout", "awaitPayout:p-1")],
    "of-eu": [activity("awaitPayout", "awaitPayout:p-2", "payments@eu")],
    "of-eu-in-a-file": [activity("awaitPayout", "awaitPayout:p-3", "payments/batch@eu")],
  });
  const accounts = [...operations.accounts, { name: "eu", hash: "hash-of-eu" }];
  await recover({ ...operations, accounts }, { ...bob, isDryRun: false });
  const waits = await ledger.waits({ isOpen: true });
  expect(Object.fromEntries(waits.map(({ account, thing }) => [thing, account]))).toEqual({
    "p-1": ACCOUNT,
    "p-2": "hash-of-eu",
    "p-3": "hash-of-eu",
  });
});
