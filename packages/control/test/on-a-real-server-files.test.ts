// A file that a second person has approved is paid without further questions. Everything else under the ids of its rows asks
// again or is refused: an approval is used up by one send of one request to one account.
import { createClient } from "@durable-payments/client";
import { defaultAssumptions } from "@durable-payments/client/effect";
import type { WriteRow } from "@durable-payments/ledger";
import type { Workflows } from "@durable-payments/protocol";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { checkBatchFile, decideBatch, payFile, planFile } from "../src/actions/batch/index.ts";
import { retryPayment } from "../src/actions/retry/retry.ts";
import { pause, resume } from "../src/actions/stopping.ts";
import { batchOfId, readLog } from "../src/views/index.ts";
import {
  beneficiary,
  type Payments,
  paymentsOn,
  payout,
  type RealStack,
} from "./support/payments.ts";
import { startRealStack } from "./support/real-stack.ts";
import type { payReserved } from "./support/workflows.ts";
import { approveFile, approveRead } from "./support/approving.ts";

let stack: RealStack;
let payments: Payments;
beforeAll(async () => {
  stack = await startRealStack();
  payments = await paymentsOn(stack);
}, 60_000);
afterAll(() => stack[Symbol.asyncDispose](), 30_000);

const ada = { by: "ada", how: "--by", reason: "november" };
const grace = { ...ada, by: "grace" };

/** An account that can be changed at the service: it has no IBAN. */
const american = {
  ...beneficiary,
  iban: undefined,
  bank_country: "US",
  account_number: "111122223333",
  swift_code: "CHASUS33",
};

const service = () => {
  const { apiKey, clientId, url } = stack.home;
  const client = createClient({ baseUrl: url, clientId, apiKey });
  onTestFinished(() => client.close());
  return client;
};

const LONG_MS = 30_000;

test("an approved file is paid; an amended row, another account, a workflow of one's own and a second payment are not", async () => {
  const { home, operations } = stack;
  const { client, ledger } = operations;
  const { known, paid, result } = payments;
  const { iban: _, ...moved } = american;
  const { beneficiary_id } = await service().createBeneficiary(moved);
  const folder = await mkdtemp(join(tmpdir(), "four-eyes-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const rows = [
    { key: "f-amended", beneficiary_id: known, payout: payout("f-amended") },
    { key: "f-id", beneficiary_id: known, payout: payout("f-id") },
    { key: "f-data", beneficiary, payout: { ...payout("f-data"), amount: "77.00" } },
    { key: "f-moved", beneficiary_id, payout: payout("f-moved") },
    { key: "f-own", beneficiary_id: known, payout: payout("f-own") },
    { key: "f-unknown", beneficiary_id: "b-unknown", payout: payout("f-unknown") },
  ];
  const file = join(folder, "rows.jsonl");
  await writeFile(file, rows.map((row) => JSON.stringify(row)).join("\n"));
  const checked = await checkBatchFile("payout", file, defaultAssumptions);
  const options = { ...ada, approveAbove: "0.01", window: 1 };
  const plan = await planFile(operations, checked, options);
  const { batch: id } = checked;
  expect((await payFile(operations, checked, plan, options)).state).toBe("reading");

  // The worker reads the payees, so that an approver without the service's key sees them.
  const listing = async () => {
    const seen = await batchOfId(ledger, id);
    expect(seen?.state).toBe("needsApproval");
    return seen?.listing;
  };
  await expect.poll(listing, { timeout: LONG_MS }).toMatchObject({ problem: null, notFound: 1 });
  const seen = await listing();
  const last = "Example Supplies GmbH, US, account ending in 3333";
  expect(seen?.rows.find(({ workflowId }) => workflowId === "payout/f-moved")?.shown).toBe(last);

  // Before the file has started a row, nothing is sent under its id.
  const own = await client.workflow.start<Workflows["payout"]>("payout", {
    workflowId: "payout/f-own",
    taskQueue: "payments",
    args: [{ beneficiary_id: known, payout: { ...payout("f-own"), amount: "999.00" } }],
  });
  await expect(own.result()).rejects.toThrow();
  await pause({ ledger }, id, grace);
  await expect(approveFile(operations, id, ada)).rejects.toThrow("another person");
  await approveFile(operations, id, { ...grace, hash: seen?.hash ?? "" });
  await service().updateBeneficiary({
    ...moved,
    beneficiary_id,
    account_number: "999988887777",
    clearing_system: "",
  });
  await home.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  await resume(operations, id, grace);

  const asked = async (workflowId: string): Promise<WriteRow["question"]> => {
    const writes = await ledger.rowsOf(workflowId);
    return writes.find(({ question }) => question !== null)?.question ?? null;
  };
  const states = async () => {
    const all = await ledger.listRows(id, { limit: 9 });
    return Object.fromEntries(all.map(({ status, workflowId }) => [workflowId.slice(7), status]));
  };
  await expect.poll(states, { timeout: LONG_MS }).toMatchObject({
    "f-amended": "failed",
    "f-id": "succeeded",
    "f-data": "succeeded",
    "f-moved": "approval",
  });
  expect(await Promise.all([paid("f-id"), paid("f-data")])).toEqual([1, 1]);
  for (const key of ["f-id", "f-data"]) expect(await asked(`payout/${key}`)).toBeNull();

  // Another account than the approver saw.
  await expect
    .poll(() => asked("payout/f-moved"), { timeout: LONG_MS })
    .toMatchObject({
      kind: "approval",
      reason: expect.stringContaining("account ending in 7777"),
    });
  await expect(approveRead(operations, "payout/f-moved", ada)).rejects.toThrow("another person");
  await approveRead(operations, "payout/f-moved", grace);
  await result("payout/f-moved");
  // The row whose id somebody used is not paid as he wished.
  await expect
    .poll(states, { timeout: LONG_MS })
    .toMatchObject({ "f-own": "failed", "f-unknown": "failed" });

  // Another request than the approver saw.
  const patch = { payout: { amount: "5000.00" } };
  await retryPayment(operations, "payout/f-amended", {
    ...ada,
    amend: patch,
  });
  await expect
    .poll(() => asked("payout/f-amended"), { timeout: LONG_MS })
    .toMatchObject({ kind: "approval" });

  // A second payment of a paid row.
  const again = await client.workflow.start<typeof payReserved>("payReserved", {
    workflowId: "payout/f-id",
    taskQueue: "payments",
    args: [{ ...payout("f-id"), beneficiary_id: known, payment_date: "2026-12-24" }],
  });
  await expect(again.result()).rejects.toThrow();
  expect(await Promise.all(["f-id", "f-moved", "f-own", "f-amended"].map(paid))).toEqual([
    1, 1, 0, 0,
  ]);
  const kinds = async (of: string) =>
    (await readLog(ledger, of)).lines.flatMap((line) => ("kind" in line ? [line.kind] : []));
  expect(await kinds(id)).toEqual(["start", "pause", "approve", "resume"]);
  // With the pauses of its file.
  expect(await kinds("payout/f-data")).toEqual(["start", "pause", "approve", "resume"]);
}, 120_000);

test("the row of a rejected file is paid with another amount under its key, once the new file is approved", async () => {
  const { operations } = stack;
  const { ledger } = operations;
  const folder = await mkdtemp(join(tmpdir(), "repaired-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const upload = async (name: string, amount: string, approveAbove?: string) => {
    const file = join(folder, name);
    const of = { key: "f-repaired", beneficiary, payout: { ...payout("f-repaired"), amount } };
    await writeFile(file, JSON.stringify(of));
    const checked = await checkBatchFile("payout", file, defaultAssumptions);
    const options = { ...ada, approveAbove };
    const plan = await planFile(operations, checked, options);
    const { id, state } = await payFile(operations, checked, plan, options);
    expect(state).toBe("needsApproval");
    return id;
  };
  const wrong = await upload("wrong.jsonl", "810.00", "0.01");
  await decideBatch(operations, wrong, "reject", grace);
  // Nobody asks for an approval, but the key was to be approved.
  const right = await upload("right.jsonl", "81.00");
  await approveFile(operations, right, grace);
  const outcome = async () => (await batchOfId(ledger, right)).outcome;
  await expect.poll(outcome, { timeout: LONG_MS }).toBe("paid");
  expect(await payments.paid("f-repaired")).toBe(1);
  expect(await ledger.rowsOf("payout/f-repaired")).toMatchObject([
    { operation: "createBeneficiary" },
    { request: { amount: "81.00" }, standing: "completed", question: null },
  ]);
  expect(await batchOfId(ledger, wrong)).toMatchObject({
    outcome: "notPaid",
    totals: [{ money: "notPaid", rows: 1, sums: [{ amount: "810.00" }] }],
  });
  expect(await ledger.sums({ batch: wrong })).toEqual([]);
}, 120_000);
