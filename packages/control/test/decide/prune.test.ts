import { InvalidInput } from "../../src/errors.ts";
import { openLedger } from "@durable-payments/ledger";
import { expect, test } from "vitest";
import { prune } from "../../src/actions/prune.ts";
import { put, row } from "../support/rows.ts";

const ada = { by: "ada", how: "--by", reason: "housekeeping" };
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

test.each([
  [0, undefined],
  [89, undefined],
  // A setting only keeps for longer.
  [89, 1],
  [200, 365],
])("nothing of %j days ago is pruned if keepDays is %j", async (days, keepDays) => {
  const ledger = await openLedger("memory");
  await put(ledger, row({ state: "done", madeId: "po-7" }));
  const given = { ...ada, before: daysAgo(days), keepDays };
  await expect(prune({ ledger }, given)).rejects.toThrow(
    `completed ${keepDays === 365 ? 365 : 90} days ago or earlier`,
  );
  expect(await ledger.rowsOf("invoice-17")).toMatchObject([{ request: { amount: "250.00" } }]);
  expect(await ledger.decisionsOf("")).toEqual([]);
});

test("a prune is a decision, with a name and a reason", async () => {
  const ledger = await openLedger("memory");
  const given = { ...ada, before: daysAgo(91) };
  await expect(prune({ ledger }, { ...given, reason: undefined })).rejects.toThrow("reason");
  await expect(prune({ ledger }, { ...given, by: "" })).rejects.toThrow("name");
  expect(await prune({ ledger }, given)).toBe(0);
  expect(await ledger.decisionsOf("")).toMatchObject([
    { kind: "prune", by: "ada", reason: "housekeeping" },
  ]);
});

test.each([new Date(Number.NaN), 0, "2020-01-01"])(
  "%j is no time to prune before",
  async (before) => {
    const ledger = await openLedger("memory");
    await expect(prune({ ledger }, { ...ada, before: before as Date })).rejects.toThrow(
      new InvalidInput({ message: "before must be a valid Date. Nothing was done." }),
    );
    expect(await ledger.decisionsOf("")).toEqual([]);
  },
);
