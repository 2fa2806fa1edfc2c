import { defaultAssumptions } from "@durable-payments/client/effect";
import { openLedger, type WriteRow } from "@durable-payments/ledger";
import { requestTerms, type Workflows } from "@durable-payments/protocol";
import { hashOf } from "@durable-payments/protocol/account";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { expect, test } from "vitest";
import { checkStart, startPayment, startRun } from "../../src/actions/start.ts";
import { EndedByPerson, NotAllowed } from "../../src/errors.ts";
import { planOnboarding, planPayout } from "../../src/rules/input.ts";
import { ACCOUNT, row as rowOf } from "../support/rows.ts";
import { operationsOn } from "../support/stub-client.ts";

/* The same id again, after Temporal has forgotten its run: the ledger alone knows what became of it. */

const ada = { startedBy: "ada" };
const pays = (amount: string, beneficiary_id = "b-1") => ({
  beneficiary_id,
  payout: { ...inputs.payout, amount, payout_reference: "Invoice 7" },
});
const plan = (amount: string, payee?: string) =>
  planPayout(pays(amount, payee), defaultAssumptions);

/** A ledger with the start of `paid-1`, 10.00, and these writes of it. The stub of Temporal knows no run. */
const rig = async (...rows: ReadonlyArray<Partial<WriteRow>>) => {
  const ledger = await openLedger("memory", { watchedForMs: 0 });
  const { asked, operations } = operationsOn(ledger);
  await startRun(operations, "paid-1", plan("10.00"), { ...ada, how: "--by" });
  for (const row of rows) {
    const name = { account: ACCOUNT, workflowId: "paid-1", step: row.operation ?? "createPayout" };
    await ledger.transact(name, () => ({ row: rowOf({ ...name, ...row }) }));
  }
  return { asked, ledger, operations };
};
const done = { state: "done", madeId: "P-1" } as const;

const NO_PAYMENT = {
  runId: null,
  type: "payout",
  amount: null,
  currency: null,
  payee: null,
  reference: null,
};
const batchRow = {
  fingerprint: "f",
  amount: null,
  currency: null,
  payee: null,
  reference: null,
  terms: "t",
  mark: null,
  shown: null,
  message: null,
};

test("a start describes its payee, so that a payment that is never sent is not to nobody", async () => {
  const { ledger, operations } = await rig();
  const { beneficiary, card, cardholder, payout } = inputs;
  await startRun(operations, "new", planPayout({ beneficiary, payout }, defaultAssumptions), ada);
  await startRun(operations, "card", planOnboarding({ cardholder, card }, defaultAssumptions), ada);
  const shown = (await ledger.payees({})).map((payee) => payee.shown);
  const person = `${cardholder.first_name} ${cardholder.last_name}`;
  expect(shown).toEqual(
    expect.arrayContaining([person, expect.stringMatching(/account ending in \S{4}$/u)]),
  );
});

test("a payment above the limits of the account, or in a currency that they omit, is not started", async () => {
  const { ledger, operations } = await rig();
  const by = { by: "ada", how: "--by", reason: "first limits" };
  for (const [maxAmounts, why] of [
    [{ EUR: "12.00" }, "12.01 EUR is above the limit of 12.00 EUR. Nothing was started."],
    [{}, "The account's limits do not list EUR. Nothing was started."],
  ] as const) {
    await ledger.setLimits(ACCOUNT, { maxAmounts, approveAbove: null }, by);
    for (const start of [startRun, checkStart])
      await expect(start(operations, "above", plan("12.01"), ada)).rejects.toThrow(why);
  }
  expect(await ledger.runs({ workflowIds: ["above"] })).toEqual([]);
});

test("the same input was paid earlier; another amount or payee is refused, also in a dry run", async () => {
  const { asked, operations } = await rig(done);
  expect(await startRun(operations, "paid-1", plan("10.0"), ada)).toMatchObject({
    isForgotten: true,
    isNew: false,
  });
  for (const other of [plan("99.00"), plan("10.00", "b-other")]) {
    for (const start of [startRun, checkStart])
      await expect(start(operations, "paid-1", other, ada)).rejects.toThrow(
        "another input. Nothing was started. First check what that run has done: under another id, it would be done again.",
      );
  }
  const onboarding = planOnboarding(
    { cardholder: inputs.cardholder, card: inputs.card },
    defaultAssumptions,
  );
  await expect(startRun(operations, "paid-1", onboarding, ada)).rejects.toThrow(NotAllowed);
  expect(asked.started).toHaveLength(1);
});

test.each([
  ["before anything was sent", []],
  ["while it waited for approval", [{ state: "ready" }]],
  ["after its beneficiary was created", [{ ...done, operation: "createBeneficiary" }]],
  ["after it was paid", [done]],
] as const)("an id that a person stopped says by whom and when: %s", async (_, rows) => {
  const { asked, ledger, operations } = await rig(...rows);
  const grace = { by: "grace", how: "--by", reason: "Fraud" };
  const on = { account: ACCOUNT, workflowId: "paid-1", step: null, question: null, value: {} };
  await ledger.decide({ ...grace, ...on, kind: "end" });
  const again = startRun(operations, "paid-1", plan("10.00"), ada);
  await expect(again).rejects.toThrow(EndedByPerson);
  await expect(again).rejects.toThrow(
    /^paid-1 was stopped by grace on \d{4}-.* UTC \(Fraud\)\. Nothing/,
  );
  expect(asked.started).toHaveLength(1);
});

test("an unpaid id is not reported as paid: it is started again, or says that it was undone", async () => {
  const beneficiary = { ...done, operation: "createBeneficiary" };
  for (const rows of [[], [beneficiary], [{ state: "refused" }], [{ state: "unknown" }]] as const) {
    const { operations } = await rig(...rows);
    expect(await startRun(operations, "paid-1", plan("10.00"), ada)).toMatchObject({ isNew: true });
  }
  const { operations } = await rig({ state: "undone" });
  await expect(startRun(operations, "paid-1", plan("10.00"), ada)).rejects.toThrow(
    "paid-1 was undone, so nothing is paid",
  );
});

test("an input that the ledger does not have is not taken for the same", async () => {
  const { ledger, operations } = await rig();
  const name = { account: ACCOUNT, workflowId: "plain", step: "createPayout" };
  await ledger.transact(name, () => ({ row: rowOf({ ...name, ...done, madeId: "P-2" }) }));
  await expect(startRun(operations, "plain", plan("10.00"), ada)).rejects.toThrow("unknown input");
});

test("an amended id is the same with its amended input alone", async () => {
  const { ledger, operations } = await rig({ state: "refused" });
  const on = { account: ACCOUNT, workflowId: "paid-1", step: null, question: null };
  const value = { hash: hashOf(plan("12.00").input), changed: [] };
  await ledger.decide({ ...on, value, kind: "amend", by: "bob", how: "--by", reason: "typo" });
  await expect(startRun(operations, "paid-1", plan("10.00"), ada)).rejects.toThrow(
    "bob amended paid-1: pass the amended input",
  );
  expect(await startRun(operations, "paid-1", plan("12.00"), ada)).toMatchObject({ isNew: true });
});

test.each([
  [
    "waiting",
    [],
    expect.stringContaining("of payouts/1, which has not started yet: give the file"),
  ],
  ["started", [], true],
  ["started", [{ state: "ready" }], true],
] as const)("a row of a file that is %s, with the writes %j", async (state, rows, outcome) => {
  const { asked, ledger, operations } = await rig(...rows);
  const filed = { ...batchRow, number: 3, workflowId: "paid-1", state };
  await ledger.saveRows("payouts/1", [filed]);
  const value = { type: "payout", content: "of the file" };
  const { account } = operations;
  const run = { ...NO_PAYMENT, account, workflowId: "paid-1", batch: "payouts/1", batchRow: 3 };
  await ledger.recordStart(run, { by: "ada", how: "--by", value });
  const again = startRun(operations, "paid-1", plan("10.00"), ada);
  expect(await again.then(({ isNew }) => isNew, String)).toEqual(outcome);
  await expect(startRun(operations, "paid-1", plan("99.00"), ada)).rejects.toThrow("another input");
  expect(asked.started).toHaveLength(outcome === true ? 2 : 1);
});

/** A file whose row waits for its approval. */
const filed = async () => {
  const ledger = await openLedger("memory");
  const { asked, operations } = operationsOn(ledger);
  const { account } = operations;
  const workflowId = "payout/row";
  await ledger.saveRows("payouts/1", [{ ...batchRow, number: 3, workflowId, state: "waiting" }]);
  const run = { ...NO_PAYMENT, account, workflowId, batch: "payouts/1", batchRow: 3 };
  const value = { type: "payout", content: "of the file" };
  await ledger.recordStart(run, { by: "ada", how: "--by", value });
  return { account, asked, ledger, operations };
};

test("a program neither starts the row of a file that waits, nor changes what the list of the file shows", async () => {
  const { account, asked, ledger, operations } = await filed();
  const start = (amount: string) =>
    startPayment<Workflows["payout"]>(operations.client, "payout", {
      key: "row",
      startedBy: "eve",
      args: [plan(amount).input],
      account,
      ledger,
    });
  for (const amount of ["10.00", "99.00"])
    await expect(start(amount)).rejects.toThrow("row 3 of payouts/1, which has not started yet");
  expect(asked.started).toEqual([]);
  expect(await ledger.runs({ batch: "payouts/1" })).toMatchObject([{ amount: null }]);
  expect(await ledger.decisionsOf("payout/row")).toHaveLength(1);
});

test("a pruned id is still known, by its start", async () => {
  const { ledger, operations } = await rig({ ...done, mustNotify: false });
  const [row] = await ledger.rowsOf("paid-1");
  const seen = { word: "completed", outcome: "completed", asks: false, problem: null } as const;
  await ledger.sawPayout(row?.account ?? "", row?.madeId ?? "", seen);
  const later = (await ledger.state()).now + 60_000;
  expect(await ledger.prune(later, { by: "ada", how: "--by", reason: "as agreed" })).toBe(1);
  expect(await startRun(operations, "paid-1", plan("10.00"), ada)).toMatchObject({
    isForgotten: true,
  });
  await expect(startRun(operations, "paid-1", plan("99.00"), ada)).rejects.toThrow("another input");
});

test("every start is recorded, with what it starts, by whom, and why it is no duplicate", async () => {
  const { ledger, operations } = await rig();
  const { client } = operations;
  const input = { ...plan("10.00").input, options: { approval: { above: "5.00" } } };
  await startPayment<Workflows["payout"]>(client, "payout", {
    key: "inv-8",
    startedBy: "bob",
    args: [input],
    ledger,
    notDuplicate: "Two deliveries",
  });
  expect(await ledger.decisionsOf("payout/inv-8")).toMatchObject([
    {
      kind: "start",
      by: "bob",
      how: "program",
      reason: "Two deliveries",
      value: { type: "payout", approveAbove: "5.00", notDuplicate: "Two deliveries" },
    },
  ]);
  const [first] = await ledger.decisionsOf("paid-1");
  const [second] = await ledger.decisionsOf("payout/inv-8");
  expect(first).toMatchObject({ by: "ada", how: "--by" });
  expect(second?.value["content"]).toBe(first?.value["content"]);
  // A payout's start says what is sent, and to whom: nothing else is sent under its id without an amendment.
  const terms = requestTerms("createPayout", input.payout);
  expect(second?.value).toMatchObject({ terms, payee: "b-1" });
  await startPayment<Workflows["payout"]>(client, "payOrder", {
    key: "8",
    startedBy: "bob",
    args: [input],
    ledger,
    notDuplicate: "Another",
  });
  expect((await ledger.decisionsOf("payOrder/8"))[0]?.value).not.toHaveProperty("terms");
});
