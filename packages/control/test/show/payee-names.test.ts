// Several payments may name one account with different holders. Each keeps its own, until the service has a beneficiary for it.
import { defaultAssumptions } from "@durable-payments/client/effect";
import { isRecord } from "@durable-payments/client/values";
import { openLedger } from "@durable-payments/ledger";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { makeTestFolder } from "@durable-payments/tools/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { checkBatchFile, decideBatch, payFile, planFile } from "../../src/actions/batch/index.ts";
import { startOf } from "../../src/actions/start-request.ts";
import { paymentOf, plannedFields } from "../../src/rules/payment.ts";
import { batchOfId, listRuns, readInbox, readReport, readRun } from "../../src/views/index.ts";
import { plannedRepair } from "../support/repairing.ts";
import { ACCOUNT, question, row } from "../support/rows.ts";
import { operationsOn } from "../support/stub-client.ts";

const OWN = "Example Supplies GmbH, DE";
const WRONG = "Wrong Name AG, DE";
const FILED = "payout/invoice-2026-101";
const ada = { by: "Ada", how: "--by", reason: "month's end" };

/** A file that waits for its approval, and a single payment to the account of its first row, with another holder. */
const rig = async () => {
  const ledger = await openLedger("memory");
  onTestFinished(() => ledger.close());
  const { operations } = operationsOn(ledger);
  const example = fileURLToPath(new URL("../../../../examples/payouts.csv", import.meta.url));
  const file = await checkBatchFile("payout", example, defaultAssumptions);
  const options = { ...ada, approveAbove: "1.00" };
  await payFile(operations, file, await planFile(operations, file, options), options);
  const [{ input } = { input: {} }] = file.rows;
  const beneficiary =
    "beneficiary" in input && isRecord(input.beneficiary) ? input.beneficiary : {};
  const wrong = { ...input, beneficiary: { ...beneficiary, account_holder: "Wrong Name AG" } };
  const payment = paymentOf(wrong, ledger);
  const run = { account: ACCOUNT, workflowId: "w-1", type: "payout", batch: null, batchRow: null };
  await ledger.recordStart(...startOf(run, [wrong], payment, { by: "bob", how: "--by" }));
  const nameOf = async (id: string) =>
    (await readRun({ ledger, temporal: undefined, whyNot: [] }, id)).payeeName;
  return { ledger, operations, batch: file.batch, input, payment, nameOf };
};

test("each payment shows the holder that it names, and either name finds both", async () => {
  const { batch, ledger, nameOf, operations } = await rig();
  expect([await nameOf(FILED), await nameOf("w-1")]).toEqual([OWN, WRONG]);
  for (const payee of ["Example Supplies", "Wrong Name"]) {
    const { runs } = await listRuns({ ledger }, { payee }, { limit: 9 });
    expect(new Map(runs.map(({ payeeName, workflowId }) => [workflowId, payeeName]))).toEqual(
      new Map([
        [FILED, OWN],
        ["w-1", WRONG],
      ]),
    );
  }
  const { hash } = (await readInbox(ledger, 1)).items[0] ?? {};
  await decideBatch(operations, batch, "reject", { ...ada, by: "Bob", hash: hash ?? "" });
  expect((await batchOfId(ledger, batch)).notPaid[0]).toMatchObject({ payeeName: OWN });
  const { lines } = await readReport(ledger, { payee: "Wrong Name" }, "payee");
  expect(new Set(lines.map(({ account, name }) => `${name} ${account}`))).toEqual(
    new Set([`${OWN} / ${WRONG} 3000`]),
  );
});

test("a repair and a question name the holder of their payment, and an amendment may correct it", async () => {
  const { input, ledger, nameOf, operations, payment } = await rig();
  const end = { endState: "failed", endedAt: 1, endType: "Odd", endReason: "odd" } as const;
  await ledger.recordEnds([{ ...end, workflowId: "w-1", runId: "run-1" }]);
  const repairing = { ...ada, notDuplicate: "another holder" };
  const { retries } = await plannedRepair(operations, repairing, { find: "w-1" });
  expect(retries).toMatchObject([{ payeeName: WRONG, payeeAccount: "3000" }]);
  const { account, step, workflowId } = row({ workflowId: "w-1", step: "createBeneficiary" });
  await ledger.transact({ account, step, workflowId }, (look) => ({
    row: {
      ...row({ workflowId, step, operation: "createBeneficiary", state: "asking" }),
      question: question(),
      request: { ...row().request, amount: null, currency: null, payee: payment?.payee ?? null },
      epoch: look.epoch,
    },
  }));
  const asked = (await readInbox(ledger, 1)).items.find((item) => item.workflowId === "w-1");
  expect(asked?.payeeName).toContain(WRONG);
  await ledger.amendRun("w-1", plannedFields(paymentOf(input, ledger)));
  expect(await nameOf("w-1")).toBe(OWN);
});

test("two accounts may have different payees with one id: each payment, question and row shows that of its account", async () => {
  const ledger = await openLedger("memory");
  onTestFinished(() => ledger.close());
  const folder = makeTestFolder();
  onTestFinished(folder.remove);
  const payees = { [ACCOUNT]: OWN, "account-2": WRONG };
  for (const [account, shown] of Object.entries(payees))
    await ledger.rememberPayees(account, [{ payee: "b-1", mark: null, shown }]);
  for (const [account, shown] of Object.entries(payees)) {
    const id = `w-${account}`;
    const input = { beneficiary_id: "b-1", payout: inputs.payout };
    const run = { account, workflowId: id, type: "payout", batch: null, batchRow: null };
    const payment = paymentOf(input, ledger);
    await ledger.recordStart(...startOf(run, [input], payment, { by: "bob", how: "--by" }));
    const nameOf = async () =>
      (await readRun({ ledger, temporal: undefined, whyNot: [] }, id)).payeeName;
    expect(await nameOf()).toBe(shown);
    const name = { account, workflowId: id, step: "createPayout" };
    await ledger.transact(name, (look) => ({
      row: {
        ...row({ ...name, state: "asking" }),
        question: question(),
        request: { ...row().request, payee: "b-1" },
        epoch: look.epoch,
      },
    }));
    expect(await nameOf()).toBe(shown);
    const asked = (await readInbox(ledger, 9)).items.find((item) => item.workflowId === id);
    expect(asked?.payeeName).toBe(shown);
    const { lines } = await readReport(ledger, { account }, "payee");
    expect(new Set(lines.map((line) => line.name))).toEqual(new Set([shown]));
    const path = join(folder.path, "rows.jsonl");
    await writeFile(path, JSON.stringify({ key: `row-${account}`, ...input }));
    const file = await checkBatchFile("payout", path, defaultAssumptions);
    const accounts = [{ name: undefined, hash: account }];
    const operations = { ...operationsOn(ledger).operations, account, accounts };
    const options = { ...ada, notDuplicate: "another one" };
    await payFile(operations, file, await planFile(operations, file, options), options);
    const { listed } = await batchOfId(ledger, file.batch, true);
    expect(listed).toMatchObject([{ payeeName: shown }]);
  }
});
