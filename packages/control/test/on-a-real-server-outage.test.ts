import { defaultAssumptions } from "@durable-payments/client/effect";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { checkBatchFile, payFile, planFile } from "../src/actions/batch/index.ts";
import { batchOfId } from "../src/views/batch.ts";
import { retryPayment } from "../src/actions/retry/retry.ts";
import {
  beneficiary,
  type Payments,
  paymentsOn,
  payout,
  type RealStack,
} from "./support/payments.ts";
import { startRealStack } from "./support/real-stack.ts";
import { resetToBegin } from "./support/reset.ts";

let stack: RealStack;
let payments: Payments;
let folder: string;
beforeAll(async () => {
  stack = await startRealStack();
  payments = await paymentsOn(stack);
  folder = await mkdtemp(join(tmpdir(), "rows-"));
}, 60_000);
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
}, 30_000);

/** Pays a file whose rows have a new beneficiary each. */
const pay = async (keys: ReadonlyArray<string>, account?: "eu"): Promise<string> => {
  const file = join(folder, `${keys[0]}.jsonl`);
  const rows = keys.map((key, at) => ({
    key,
    ...(account && { account }),
    beneficiary: { ...beneficiary, account_number: `12345678${at}` },
    payout: payout(key),
  }));
  await writeFile(file, rows.map((row) => JSON.stringify(row)).join("\n"));
  const checked = await checkBatchFile("payout", file, defaultAssumptions);
  const options = { by: "ada", how: "--by" };
  await payFile(
    stack.operations,
    checked,
    await planFile(stack.operations, checked, options),
    options,
  );
  return checked.batch;
};

const result = (workflowId: string): Promise<unknown> => payments.result(workflowId);
const paid = (keys: ReadonlyArray<string>) => Promise.all(keys.map(payments.paid));

const questions = async (): Promise<ReadonlyArray<unknown>> =>
  (await stack.operations.ledger.rows({ states: ["asking"], limit: 100 })).map(
    ({ question }) => question?.reason,
  );

test("while the service answers 503 nobody is asked; afterwards each row is paid once", async () => {
  const { ledger } = stack.operations;
  const keys = ["o1", "o2", "o3", "o4", "o5", "o6"];
  await stack.eu.setTemperament({ outage: { kind: "503", afterMs: 0, forMs: 6_000 } });
  const batch = await pay(keys, "eu");
  let asked: ReadonlyArray<unknown> = [];
  const watching = setInterval(() => {
    void questions().then((found) => (asked = [...asked, ...found]));
  }, 500);
  await result(`${batch}/1`);
  clearInterval(watching);
  expect(asked).toEqual([]);
  expect(await ledger.batchCounts(batch)).toMatchObject([{ status: "succeeded", rows: 6 }]);
  expect(await paid(keys)).toEqual([1, 1, 1, 1, 1, 1]);
}, 120_000);

test("a row that failed and is retried counts as succeeded, also in the result file", async () => {
  const { ledger } = stack.operations;
  await stack.home.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  const batch = await pay(["again"]);
  await result(`${batch}/1`);
  expect(await ledger.batchCounts(batch)).toMatchObject([{ status: "failed", rows: 1 }]);
  const [row] = await ledger.batchRows(batch, { limit: 1 });
  const id = row?.workflowId ?? "";
  await retryPayment(stack.operations, id, { by: "bob", how: "--by" });
  await result(id);
  await vi.waitFor(
    async () =>
      expect(await ledger.batchCounts(batch)).toMatchObject([{ status: "succeeded", rows: 1 }]),
    { timeout: 20_000, interval: 100 },
  );
  const { listed } = await batchOfId(ledger, batch, true);
  expect(listed).toMatchObject([{ state: "paid" }]);
}, 60_000);

test("a row that Temporal's own tools reset to its first task, and its batch, are paid once", async () => {
  const { client, ledger } = stack.operations;
  const keys = ["r1", "r2"];
  const batch = await pay(keys);
  await result(`${batch}/1`);
  expect(await paid(keys)).toEqual([1, 1]);
  const rows = await ledger.batchRows(batch, { limit: 2 });
  for (const workflowId of [...rows.map((row) => row.workflowId), `${batch}/1`]) {
    const again = await resetToBegin(stack.operations, workflowId);
    await client.workflow.getHandle(workflowId, again).result();
  }
  expect(await paid(keys)).toEqual([1, 1]);
  expect(await ledger.batchCounts(batch)).toMatchObject([{ status: "succeeded", rows: 2 }]);
}, 60_000);
