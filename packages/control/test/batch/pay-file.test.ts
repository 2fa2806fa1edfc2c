import { defaultAssumptions } from "@durable-payments/client/effect";
import { openLedger } from "@durable-payments/ledger";
import { requestTerms } from "@durable-payments/protocol";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkBatchFile, decideBatch, payFile, planFile } from "../../src/actions/batch/index.ts";
import { batchOfId } from "../../src/views/index.ts";
import { ACCOUNT, put, row } from "../support/rows.ts";
import { operationsOn } from "../support/stub-client.ts";
import { plannedRepair } from "../support/repairing.ts";
import { approveFile } from "../support/approving.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "batch-"));
});
afterAll(() => rm(folder, { recursive: true }));

const HEADER =
  "key,beneficiary_id,amount,currency,payout_reason,payout_reference,payment_date,is_payer";
const line = (key: string, amount = "10.00", payee = "b-1"): string =>
  `${key},${payee},${amount},EUR,Payment for goods,Invoice ${key},2026-12-01,Y`;

const fileOf = async (name: string, lines: ReadonlyArray<string>): Promise<string> => {
  const file = join(folder, name);
  await writeFile(file, [HEADER, ...lines].join("\n"));
  return file;
};

const checked = async (name: string, lines: ReadonlyArray<string>) =>
  checkBatchFile("payout", await fileOf(name, lines), defaultAssumptions);

const ada = { by: "Ada", how: "--by", reason: "month's end" };
const bob = { ...ada, by: "Bob" };

const rig = async () => {
  const ledger = await openLedger("memory");
  return { ledger, ...operationsOn(ledger) };
};

test.each(["csv", "jsonl"])("docs/pay.md shows a valid %s file", async (kind) => {
  const page = await readFile(new URL("../../../../docs/pay.md", import.meta.url), "utf8");
  const [, content = ""] = new RegExp(`^\`\`\`${kind}\\n([^]*?)^\`\`\`$`, "m").exec(page) ?? [];
  const file = join(folder, `docs.${kind}`);
  await writeFile(file, content);
  const { rows } = await checkBatchFile("payout", file, defaultAssumptions);
  expect(rows).toMatchObject([{ workflowId: "payout/invoice-17" }]);
});

test("docs/pay.md shows what the approver of its example sees", async () => {
  const { ledger, operations } = await rig();
  const example = fileURLToPath(new URL("../../../../examples/payouts.csv", import.meta.url));
  const file = await checkBatchFile("payout", example, defaultAssumptions);
  const options = { ...ada, approveAbove: "300.00" };
  await payFile(operations, file, await planFile(operations, file, options), options);
  const page = await readFile(new URL("../../../../docs/pay.md", import.meta.url), "utf8");
  const { id, listing } = await batchOfId(ledger, file.batch);
  for (const text of [`approve ${id}`, `hash     ${listing?.hash}`, `--hash ${listing?.hash}`])
    expect(page).toContain(text);
});

test.each([
  { window: 0 },
  { window: Number.NaN },
  // Null in JSON, so a worker would start no row.
  { window: Number.POSITIVE_INFINITY },
  { rate: 0 },
  { rate: Number.POSITIVE_INFINITY },
])(
  "neither a file nor a repair is started with %j: no row of it would ever begin",
  async (pace) => {
    const { operations } = await rig();
    const file = await checked("pace.csv", [line("1")]);
    const given = { ...ada, ...pace };
    const message = "The rate must be above 0, and the window 1 or more";
    await expect(planFile(operations, file, given)).rejects.toThrow(message);
    await expect(plannedRepair(operations, given)).rejects.toThrow(message);
  },
);

test.each([[null], [[1]], ["1.00"]])(
  "an amendment of all runs is an object, and not %j",
  async (amend) => {
    const { operations } = await rig();
    await expect(plannedRepair(operations, { ...ada, amend })).rejects.toThrow("must be an object");
  },
);

test("every fault of every row is named at once, and no account number", async () => {
  const file = checked("faulty.csv", [line("1", "-5"), line("2"), line("2"), "3,b-1"]);
  await expect(file).rejects.toMatchObject({
    message: expect.stringContaining("3 faults"),
    faults: [
      { row: 2, column: "amount" },
      { row: 4, column: "key", problem: "is already the key of row 3" },
      { row: 5, problem: expect.stringContaining("has 2 cells") },
    ],
  });
});

test("a file becomes a batch whose rows carry no input, and chunks that do", async () => {
  const { asked, ledger, operations } = await rig();
  const file = await checked("one.csv", [line("1"), line("2", "20.50")]);
  const plan = await planFile(operations, file, ada);
  expect(plan).toMatchObject({
    rows: 2,
    totals: { EUR: "30.50" },
    known: [],
    needsApproval: false,
  });
  expect(await payFile(operations, file, plan, ada)).toMatchObject({
    state: "approved",
    createdBy: "Ada",
  });
  expect(asked.started).toMatchObject([
    { type: "runBatch", workflowId: `${file.batch}/1`, args: [{ startedBy: "Ada" }] },
  ]);
  expect(await ledger.batchCounts(file.batch)).toEqual([
    {
      status: "notStarted",
      standing: "open",
      currency: "EUR",
      rows: 2,
      amount: "30.50",
    },
  ]);
  expect(await ledger.runs({ batch: file.batch })).toHaveLength(2);
});

test("the same rows are the same batch; a row of another file is not paid again", async () => {
  const { ledger, operations } = await rig();
  const first = await checked("first.csv", [line("1"), line("2")]);
  await payFile(operations, first, await planFile(operations, first, ada), ada);
  const second = await checked("second.csv", [line("2"), line("3")]);
  const plan = await planFile(operations, second, ada);
  expect(plan).toMatchObject({
    known: [{ number: 2, batch: first.batch }],
    totals: { EUR: "10.00" },
  });
  await payFile(operations, second, plan, ada);
  expect(await ledger.batchCounts(second.batch)).toMatchObject([
    { status: "covered", rows: 1 },
    { status: "notStarted", rows: 1 },
  ]);
  const stateOf = async () => {
    const { listed } = await batchOfId(ledger, second.batch, true);
    return listed?.[0];
  };
  const covered = { number: 2, status: "covered", reason: `Already in ${first.batch}.` } as const;
  expect(await stateOf()).toMatchObject({ ...covered, state: "planned", madeId: null });
  const made = row({ workflowId: "payout/2", account: ACCOUNT, state: "done", madeId: "p-2" });
  await put(ledger, made);
  expect(await stateOf()).toMatchObject({ ...covered, state: "underWay", madeId: "p-2" });
  const seen = { word: "Completed", outcome: "completed", asks: false, problem: null } as const;
  await ledger.sawPayout(ACCOUNT, "p-2", seen);
  expect(await stateOf()).toMatchObject({ ...covered, state: "paid", word: "Completed" });
  expect(await batchOfId(ledger, second.batch)).toMatchObject({
    notPaid: [{ number: 2, status: "covered", state: "paid", madeId: "p-2", word: "Completed" }],
    notNamed: 0,
  });
  // A third file belongs to the first one as well, not to the second.
  const third = await checked("third.csv", [line("2"), line("4")]);
  expect(await planFile(operations, third, ada)).toMatchObject({ known: [{ batch: first.batch }] });
});

test("a file is paid only if each row is, also those that an earlier file has", async () => {
  const { ledger, operations } = await rig();
  const first = await checked("first.csv", [line("1"), line("2"), line("3")]);
  await payFile(operations, first, await planFile(operations, first, ada), ada);
  const second = await checked("second.csv", [line("1"), line("2")]);
  await payFile(operations, second, await planFile(operations, second, ada), ada);
  const outcome = async () => (await batchOfId(ledger, second.batch)).outcome;
  const seen = { asks: false, problem: null } as const;
  const pay = async (key: string, result: "completed" | "failed") => {
    const made = { workflowId: `payout/${key}`, account: ACCOUNT, madeId: `p-${key}` };
    await put(ledger, row({ ...made, state: "done" }));
    await ledger.sawPayout(ACCOUNT, made.madeId, { ...seen, word: result, outcome: result });
  };
  await ledger.claimRows(
    first.batch,
    first.rows.slice(0, 2).map(({ number }) => number),
  );
  await pay("1", "completed");
  expect(await outcome()).toBe("open");
  await pay("2", "failed");
  expect(await outcome()).toBe("notPaid");
  const third = await checked("third.csv", [line("2"), line("1"), line("3")]);
  expect((await planFile(operations, third, ada)).known.map(({ money }) => money)).toEqual([
    "failed",
    "paid",
    "planned",
  ]);
  await ledger.sawPayout(ACCOUNT, "p-2", { ...seen, word: "completed", outcome: "completed" });
  expect(await outcome()).toBe("paid");

  // A row that waits in the earlier file, and then is not paid.
  await payFile(operations, third, await planFile(operations, third, ada), ada);
  const last = async () => (await batchOfId(ledger, third.batch)).outcome;
  expect(await last()).toBe("open");
  await decideBatch(operations, first.batch, "cancel", ada);
  expect(await last()).toBe("notPaid");
});

test("a file has the warnings of its payments, each once with its rows", async () => {
  const { operations } = await rig();
  const past = (key: string, currency: string) =>
    line(key).replace("EUR", currency).replace("2026-12-01", "2020-01-31");
  const file = await checked("unlikely.csv", [past("1", "EUR"), past("2", "QQQ")]);
  expect(await planFile(operations, file, ada)).toMatchObject({
    warnings: [],
    unlikely: [
      "Rows 2, 3: The payment date 2020-01-31 is in the past.",
      "Row 3: QQQ is not a currency of ISO 4217.",
    ],
  });
});

test("the log of each row has its start: who, from which file, with which options", async () => {
  const { ledger, operations } = await rig();
  const file = await checked("starts.csv", [line("1"), line("2", "60.00")]);
  const options = { ...ada, approveAbove: "50" };
  await payFile(operations, file, await planFile(operations, file, options), options);
  const [start, ...others] = await ledger.logOf("payout/1");
  expect(others).toEqual([]);
  expect(start).toMatchObject({ kind: "start", by: "Ada", how: "--by" });
  const terms = requestTerms("createPayout", {
    amount: "10",
    currency: "EUR",
    payout_reason: "Payment for goods",
    payout_reference: "Invoice 1",
    payment_date: "2026-12-01",
    is_payer: "Y",
    beneficiary_id: "made later",
  });
  expect(start).toHaveProperty("value", {
    type: "payout",
    content: expect.any(String),
    file: { batch: file.batch, row: 2, name: "starts.csv" },
    terms,
    payee: "b-1",
    needsApproval: true,
  });
  expect(await ledger.logOf(`batch:${file.batch}`)).toMatchObject([
    {
      kind: "start",
      by: "Ada",
      value: { file: "starts.csv", rows: 2, sums: { EUR: "70.00" }, approveAbove: "50" },
    },
  ]);
});

test("a file that a restored ledger has forgotten is uploaded again: its rows are its own", async () => {
  const { ledger, operations } = await rig();
  const file = await checked("forgotten.csv", [line("1")]);
  const write = row({
    workflowId: "payout/1",
    ownerId: "payout/1",
    rootId: "payout/1",
    state: "unknown",
  });
  await ledger.transact(write, () => ({ row: write, workflowType: "payout" }));
  expect(await ledger.runs({ workflowIds: ["payout/1"] })).toMatchObject([{ startedBy: null }]);
  const plan = await planFile(operations, file, ada);
  expect(await payFile(operations, file, plan, ada)).toMatchObject({ state: "approved" });
  expect(await ledger.runs({ workflowIds: ["payout/1"] })).toMatchObject([
    { batch: file.batch, startedBy: "Ada" },
  ]);
});

test("a file that is paid again continues: its workflows start again, and nothing is decided again", async () => {
  const { asked, ledger, operations } = await rig();
  const file = await checked("again.csv", [line("1"), line("2")]);
  const options = { ...ada, approveAbove: "15" };
  await payFile(operations, file, await planFile(operations, file, options), options);
  await approveFile(operations, file.batch, bob).catch(() => undefined);
  const before = await ledger.state();
  // Temporal's database is lost; an amendment has changed what the ledger says of a row.
  const { runs } = ledger;
  const amended = {
    ...ledger,
    runs: async (filter: Parameters<typeof runs>[0]) =>
      (await runs(filter)).map((run) => ({ ...run, amount: "9.00" })),
  };
  const plan = await planFile({ ...operations, ledger: amended }, file, bob);
  expect(await payFile(operations, file, plan, bob)).toMatchObject({ createdBy: "Ada" });
  expect(asked.started.map(({ args, workflowId }) => [workflowId, args])).toMatchObject([
    [`${file.batch}/1`, [{ startedBy: "Ada" }]],
    [`${file.batch}/1`, [{ startedBy: "Ada" }]],
  ]);
  expect((await ledger.state()).sequence).toBe(before.sequence);
  await decideBatch(operations, file.batch, "cancel", bob);
  // Its started rows continue; no other row starts.
  expect(await payFile(operations, file, plan, ada)).toMatchObject({ state: "cancelled" });
});

test("an interrupted upload is continued by the same rows on other lines: each row once, as it was recorded", async () => {
  const { asked, ledger, operations } = await rig();
  const file = await checked("lines.csv", [line("1"), line("2"), line("3")]);
  const partly = {
    ...ledger,
    saveRows: async (id: string, rows: Parameters<typeof ledger.saveRows>[1]) => {
      await ledger.saveRows(id, rows.slice(0, 2));
      throw new Error("interrupted");
    },
  };
  const plan = await planFile(operations, file, ada);
  await expect(payFile({ ...operations, ledger: partly }, file, plan, ada)).rejects.toThrow();
  const same = join(folder, "lines.jsonl");
  const keyed = file.rows.map(({ input, workflowId }) => ({ key: workflowId.slice(7), ...input }));
  await writeFile(same, keyed.map((one) => JSON.stringify(one)).join("\n"));
  const again = await checkBatchFile("payout", same, defaultAssumptions);
  expect(again).toMatchObject({ batch: file.batch, rows: [{ number: 1 }, {}, {}] });
  await payFile(operations, again, await planFile(operations, again, ada), ada);
  const rows = ["payout/1", "payout/2", "payout/3"].map((workflowId, at) => ({
    number: at + 2,
    workflowId,
  }));
  expect(await ledger.batchRows(file.batch)).toMatchObject(rows);
  expect(asked.started).toMatchObject([{ args: [{ rows }] }]);
  expect(await ledger.runs({ batch: file.batch })).toHaveLength(3);
});

test("the plan of a file that was uploaded before says what is left to pay of it", async () => {
  const { ledger, operations } = await rig();
  const planOf = async (name: string) => {
    const lines = ["1", "2", "3"].map((key) => line(`${name}-${key}`));
    const file = await checked(`${name}.csv`, lines);
    return { file, plan: () => planFile(operations, file, ada) };
  };
  const part = await planOf("part");
  expect(await part.plan()).toMatchObject({ state: null, toPay: 3, totals: { EUR: "30.00" } });
  await payFile(operations, part.file, await part.plan(), ada);
  expect(await part.plan()).toMatchObject({ state: "approved", toPay: 3 });
  const numbers = part.file.rows.map(({ number }) => number);
  await ledger.claimRows(part.file.batch, numbers);
  const pay = async (key: string) => {
    await put(ledger, row({ workflowId: `payout/${key}`, state: "done", madeId: key }));
    const seen = { word: "paid", outcome: "completed", asks: false, problem: null } as const;
    await ledger.sawPayout(ACCOUNT, key, seen);
  };
  await pay("part-1");
  expect(await part.plan()).toMatchObject({
    state: "approved",
    toPay: 2,
    totals: { EUR: "20.00" },
  });
  await pay("part-2");
  await pay("part-3");
  await ledger.recordEnds(
    part.file.rows.map(({ workflowId }) => ({
      workflowId,
      runId: "run-1",
      endState: "succeeded" as const,
      endedAt: 1,
      endType: null,
      endReason: null,
    })),
  );
  await ledger.finishBatch(part.file.batch);
  expect(await part.plan()).toMatchObject({ state: "finished", toPay: 0, totals: {} });

  const options = { ...ada, approveAbove: "5" };
  const stopped = await planOf("stopped");
  await payFile(
    operations,
    stopped.file,
    await planFile(operations, stopped.file, options),
    options,
  );
  expect(await stopped.plan()).toMatchObject({
    state: "reading",
    toPay: 3,
    needsApproval: true,
  });
  await decideBatch(operations, stopped.file.batch, "cancel", bob);
  expect(await stopped.plan()).toMatchObject({
    state: "cancelled",
    toPay: 0,
    totals: {},
    needsApproval: false,
  });
});

test("an upload of the same rows is refused while somebody else is uploading them", async () => {
  const { operations } = await rig();
  const file = await checked("mine.csv", [line("1")]);
  const plan = await planFile(operations, file, ada);
  const { saveRows } = operations.ledger;
  const ledger = {
    ...operations.ledger,
    saveRows: async (...rows: Parameters<typeof saveRows>) => {
      await expect(payFile(operations, file, plan, bob)).rejects.toThrow(
        "Ada has not finished the upload",
      );
      return saveRows(...rows);
    },
  };
  await payFile({ ...operations, ledger }, file, plan, ada);
});

test("a key that has paid something else is a fault", async () => {
  const { operations } = await rig();
  const file = await checked("key.csv", [line("1")]);
  await payFile(operations, file, await planFile(operations, file, ada), ada);
  const other = await checked("other-key.csv", [line("1", "10.00", "b-2")]);
  await expect(planFile(operations, other, ada)).rejects.toThrow("keys that were used before: 1");
  const more = await checked("other-amount.csv", [line("1", "9999.00")]);
  await expect(planFile(operations, more, ada)).rejects.toThrow("keys that were used before: 1");
});

test("a file with likely duplicates is paid only with a reason, which is recorded", async () => {
  const { ledger, operations } = await rig();
  const twin = (key: string): string => line(key).replace(`Invoice ${key}`, "Invoice 7");
  const file = await checked("twins.csv", [twin("1"), line("2"), twin("3")]);
  const plan = await planFile(operations, file, ada);
  expect(plan.warnings).toEqual(["Row 4 may be a duplicate of row 2 of this file"]);
  await expect(payFile(operations, file, plan, ada)).rejects.toThrow(
    /^Row 4 may be a duplicate of row 2 of this file.*give the reason \(notDuplicate\)/,
  );
  expect(await ledger.batch(file.batch)).toBeUndefined();
  const notDuplicate = "two deliveries";
  await expect(planFile(operations, file, { ...ada, notDuplicate: " " })).rejects.toThrow("reason");
  await payFile(operations, file, plan, { ...ada, notDuplicate });
  expect(await batchOfId(ledger, file.batch)).toMatchObject({
    notDuplicate,
    warnings: [expect.stringContaining("Row 4 may be a duplicate")],
  });
  for (const id of ["payout/3", `batch:${file.batch}`])
    expect((await ledger.logOf(id))[0]).toMatchObject({ kind: "start", reason: notDuplicate });
  // The same file again continues: its reason is on record.
  await payFile(operations, file, await planFile(operations, file, ada), ada);
});

test("a total above the account's limit waits for a second person", async () => {
  const { ledger, operations } = await rig();
  const limits = { maxAmounts: null, approveAbove: { EUR: "100" } };
  await ledger.setLimits(operations.account, limits, { ...ada, reason: null });
  const file = await checked("limit.csv", [line("1", "60"), line("2", "60")]);
  expect(await planFile(operations, file, ada)).toMatchObject({ needsApproval: true });
  // What a file says can only ask for more.
  const options = { ...ada, approveAbove: "1000" };
  expect(await planFile(operations, file, options)).toMatchObject({ needsApproval: true });
});

test("a row above the account's limits is refused before anything is started, and a file that was started continues", async () => {
  const { ledger, operations } = await rig();
  const limitTo = (maxAmounts: Readonly<Record<string, string>>) =>
    ledger.setLimits(operations.account, { maxAmounts, approveAbove: null }, { ...ada });
  await limitTo({ EUR: "100.00" });
  const file = await checked("above.csv", [line("1", "100"), line("2", "100.01")]);
  const found = await planFile(operations, file, ada).catch((error: unknown) => error);
  expect(found).toMatchObject({
    name: "InvalidInput",
    message: expect.stringContaining("Nothing was started"),
    faults: [{ field: "row 3:", problem: "100.01 EUR is above the limit of 100.00 EUR." }],
  });
  const within = await checked("within.csv", [line("1", "100")]);
  await payFile(operations, within, await planFile(operations, within, ada), ada);
  await limitTo({ EUR: "99.00" });
  expect(await planFile(operations, within, ada)).toMatchObject({ state: "approved", toPay: 1 });
});

test("an upload that comes late does not revive a batch that was cancelled meanwhile", async () => {
  const { ledger, operations } = await rig();
  const file = await checked("late.csv", [line("1")]);
  const plan = await planFile(operations, file, ada);
  const { saveRows } = ledger;
  const late = {
    ...ledger,
    saveRows: async (...rows: Parameters<typeof saveRows>) => {
      await payFile(operations, file, plan, ada);
      await decideBatch(operations, file.batch, "cancel", bob);
      return saveRows(...rows);
    },
  };
  await payFile({ ...operations, ledger: late }, file, plan, ada);
  expect(await ledger.batch(file.batch)).toMatchObject({ state: "cancelled" });
  expect(await ledger.batchCounts(file.batch)).toMatchObject([{ status: "rejected", rows: 1 }]);
});
