import { InvalidInput } from "../../src/errors.ts";
import { openLedger } from "@durable-payments/ledger";
import { expect, test } from "vitest";
import { prune } from "../../src/actions/prune.ts";
import { readLog } from "../../src/views/run.ts";
import { ACCOUNT, put, row, run } from "../support/rows.ts";

const { account, amount, batch, batchRow, currency, payee, reference, runId, type } = run();
const planned = { account, amount, batch, batchRow, currency, payee, reference, runId, type };

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

test("the log of a pruned run says by whom and why, and that of another run has no prune", async () => {
  let at = Date.now() - 100 * 86_400_000;
  const ledger = await openLedger("memory", { clock: () => at });
  const [pruned, open] = ["old-1", "old-2"];
  const start = { by: "bob", how: "terminal", value: { type: "payout", content: "c" } } as const;
  for (const workflowId of [pruned, open])
    await ledger.recordStart({ ...planned, workflowId }, start);
  const end = {
    endState: "failed",
    endedAt: at,
    endType: "Refused",
    endReason: "no funds",
  } as const;
  await ledger.recordEnds([{ ...end, workflowId: pruned, runId: null }]);
  at = Date.now();
  const given = { ...ada, before: daysAgo(91) };
  expect(await prune({ ledger }, given)).toBe(1);
  expect(await prune({ ledger }, given)).toBe(0);
  const stop = {
    ...ada,
    account: ACCOUNT,
    step: null,
    question: null,
    kind: "end",
    value: {},
  } as const;
  for (const workflowId of [pruned, open]) await ledger.decide({ ...stop, workflowId });
  const logOf = async (workflowId: string) =>
    (await readLog(ledger, workflowId)).lines.map((line) =>
      "kind" in line ? line.kind : [line.what, line.who, line.details],
    );
  const removed = ["old texts and log entries removed", "ada", { reason: "housekeeping" }];
  expect(await logOf(pruned)).toEqual(["start", removed, "end"]);
  expect(await logOf(open)).toEqual(["start", "end"]);
});

test.each([new Date(Number.NaN), 0, "2020-01-01"])("does not prune before %j", async (before) => {
  const ledger = await openLedger("memory");
  await expect(prune({ ledger }, { ...ada, before: before as Date })).rejects.toThrow(
    new InvalidInput({ message: "before must be a valid Date. Nothing was done." }),
  );
  expect(await ledger.decisionsOf("")).toEqual([]);
});
