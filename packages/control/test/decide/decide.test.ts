import {
  type DecisionKind,
  type Ledger,
  type NewDecision,
  openLedger,
} from "@durable-payments/ledger";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { expect, test } from "vitest";
import { answer, answerAll, approve, reject } from "../../src/actions/decide/index.ts";
import { decideBatch } from "../../src/actions/batch/batch.ts";
import { ControlError, InvalidInput, NotAllowed, NotFound } from "../../src/errors.ts";
import { consequencesOf } from "../../src/rules/consequences.ts";
import { cancel, pause, resume } from "../../src/actions/stopping.ts";
import { itemsOf, readInbox } from "../../src/views/inbox.ts";
import { readRun } from "../../src/views/run.ts";
import { startOf } from "../../src/actions/start-request.ts";
import { ACCOUNT, put, question, row } from "../support/rows.ts";
import { operationsOn } from "../support/stub-client.ts";
import { approveRead, readHash } from "../support/approving.ts";

const bob = { by: "Bob", how: "--by", reason: "looked at the bank" };
const asking = row({ state: "asking", doubt: 1, question: question() });
const approval = row({
  question: question({ id: "a1", kind: "approval", account: "mark" }),
});
const noMoney = { ...approval.request, amount: null, currency: null };

const withRow = async (given = asking, signals: "taken" | "noRun" | "silent" = "taken") => {
  const ledger = await openLedger("memory");
  await put(ledger, given);
  return { ledger, ...operationsOn(ledger, signals) };
};

test("an answer needs the ledger alone: it is recorded for its question, and marks the row for the tracker", async () => {
  const { ledger } = await withRow();
  const given = { ...bob, choose: "found", question: "q1", found: " P-1 " } as const;
  expect(await answer({ ledger }, "invoice-17", given)).toMatchObject({
    kind: "found",
    step: "createPayout",
    question: "q1",
    by: "Bob",
    value: { id: "P-1" },
  });
  expect(await decided(ledger)).toMatchObject([{ value: { id: "P-1" } }]);
  expect(await ledger.rowsOf("invoice-17")).toMatchObject([{ state: "asking", mustNotify: true }]);
});

test("an answer for another question is refused with the present one", async () => {
  const { ledger, operations } = await withRow();
  const given = { ...bob, choose: "resend", question: "q0" } as const;
  await expect(answer(operations, "invoice-17", given)).rejects.toThrow(
    /q0 is not open.*is q1 \(createPayout\)/,
  );
  expect(await decided(ledger)).toEqual([]);
});

test.each([
  ["nosuch", NotFound],
  ["paid", NotAllowed],
])("a decision about %s, which asks nothing, is refused", async (workflowId, kind) => {
  const { ledger, operations } = await withRow();
  await put(ledger, row({ workflowId: "paid", state: "done", madeId: "po-7" }));
  const about = { ...bob, choose: "resend", question: "q1" } as const;
  await expect(answer(operations, workflowId, about)).rejects.toThrow(kind);
  const seen = { ...bob, hash: "0".repeat(32) };
  await expect(approve(operations, workflowId, seen)).rejects.toThrow(kind);
  await expect(reject(operations, workflowId, seen)).rejects.toThrow(kind);
});

test("the first answer wins, and an end beats it", async () => {
  const { ledger, operations } = await withRow();
  const about = { ...bob, question: "q1" };
  await answer(operations, "invoice-17", { ...about, choose: "resend" });
  await expect(
    answer(operations, "invoice-17", { ...about, by: "Eve", choose: "found", found: "P-1" }),
  ).rejects.toThrow("Bob has answered this question already");
  await answer(operations, "invoice-17", { ...about, by: "Eve", choose: "end" });
  expect(await ledger.rowsOf("invoice-17")).toMatchObject([{ state: "ended" }]);
});

test.each([
  [{ choose: "resend", reason: undefined }, "A reason is required"],
  [{ choose: "found" }, "needs the id"],
  [{ choose: "resend", found: "P-1" }, "can be given only if the answer is found"],
  [{ choose: "resend", by: " " }, "must not be empty"],
] as const)("an answer %j is refused", async (given, message) => {
  const { operations } = await withRow();
  const whole = { ...bob, question: "q1", ...given } as const;
  await expect(answer(operations, "invoice-17", whole)).rejects.toThrow(message);
});

/** The decisions that people made, after the start. */
const decided = async (ledger: Ledger, workflowId = "invoice-17") =>
  (await ledger.decisionsOf(workflowId)).filter(({ kind }) => kind !== "start");

const itemOf = async (ledger: Ledger, workflowId = "invoice-17") => {
  const [item] = await itemsOf(ledger, await ledger.rowsOf(workflowId));
  return item;
};

/** Records a decision of a kind about the payment, as the tools do. */
/** Records another start of the id of the approval. */
const start = (ledger: Ledger, by: Parameters<Ledger["recordStart"]>[1]) => {
  const { account, request, runId, workflowId } = approval;
  const run = { account, workflowId, runId, type: "payout", batch: null, batchRow: null };
  return ledger.recordStart({ ...request, ...run }, by);
};

const note = (ledger: Ledger, kind: DecisionKind, more: Partial<NewDecision> = {}) => {
  const { account, workflowId } = approval;
  const about = { account, workflowId, step: null, question: null, value: {} };
  return ledger.decide({ ...bob, ...about, kind, ...more });
};

test("nothing is sent again under an id that was stopped before it asked", async () => {
  const { ledger, operations } = await withRow(row({ state: "unknown", doubt: 1 }));
  await note(ledger, "end");
  const { sequence } = await ledger.mark();
  await put(ledger, { ...asking, decisionsAfter: sequence });
  const [item] = await itemsOf(ledger, await ledger.rows({ needsPerson: true }));
  expect(Object.keys(item?.choices ?? {})).toEqual(["found", "end"]);
  expect(item?.next).toMatchObject([{ choice: "found" }, { choice: "end" }]);
  const about = { ...bob, question: "q1" };
  await expect(answer(operations, "invoice-17", { ...about, choose: "resend" })).rejects.toThrow(
    "was stopped, so nothing is sent again. Answer found if it was made, else end",
  );
  await answer(operations, "invoice-17", { ...about, choose: "found", found: "P-1" });
});

test.each([
  ["EUR", "ada started payout"],
  ["USD", "ada started payout, to an account in another currency: EUR"],
])("an approver reads that %s is paid to an account in EUR", async (currency, said) => {
  const { ledger } = await withRow(approval);
  const { workflowId } = approval;
  const run = { account: ACCOUNT, workflowId, type: "payout", batch: null, batchRow: null };
  const input = { beneficiary: inputs.beneficiary, payout: { ...inputs.payout, currency } };
  await ledger.recordStart(...startOf(run, [input], undefined, { by: "ada", how: "--by" }));
  const [item] = await itemsOf(ledger, await ledger.rows({ needsPerson: true }));
  expect(item?.details).toContain(`${workflowId}: ${said}`);
});

test("an approval names generation, terms and the payee's account", async () => {
  const { ledger, operations } = await withRow(approval);
  await approveRead(operations, "invoice-17", bob);
  expect(await decided(ledger)).toMatchObject([
    { kind: "approve", question: "a1", value: { generation: 1, terms: "t", account: "mark" } },
  ]);
});

test.each([
  ["a first send", approval, "running"],
  ["a further send", { ...approval, state: "asking", doubt: 1 } as const, "unknown"],
])(
  "an approval asks nobody any more, though its run has not read it: %s",
  async (_, given, status) => {
    const { ledger, operations } = await withRow(given);
    const sources = { ledger, temporal: undefined, whyNot: [] };
    expect(await readRun(sources, "invoice-17")).toMatchObject({ status: "approval" });
    await approveRead(operations, "invoice-17", bob);
    expect(await itemOf(ledger)).toBeUndefined();
    expect((await readInbox(ledger, 1)).items).toEqual([]);
    expect((await ledger.overview()).writes).toMatchObject([{ question: null }]);
    const text = "approved by Bob; its run continues when Temporal is back";
    expect(await readRun(sources, "invoice-17")).toMatchObject({
      status,
      reason: expect.stringContaining(text),
      steps: [{ text }],
    });
    const eve = { ...bob, by: "Eve", hash: "0".repeat(32) };
    await expect(approve(operations, "invoice-17", eve)).rejects.toThrow(
      "Bob has approved it already",
    );
  },
);

test("what made an approval void is said, and not that the limits changed", async () => {
  const { ledger } = await withRow(approval);
  const value = { generation: 1, terms: "t", account: "mark" };
  await note(ledger, "approve", { by: "Grace", step: approval.step, value });
  expect((await itemOf(ledger))?.details.at(-1)).toMatch("Changed since then: the limits.");
  await note(ledger, "overrule", { by: "ada" });
  expect((await itemOf(ledger))?.details.at(-1)).toMatch(
    "Changed since then: ada overrode its stop order.",
  );
});

test("nobody can approve a payment whose start is not recorded, and no approval is offered", async () => {
  const why = "Nobody can approve it, because the ledger has no start of this run of invoice-17";
  const root = { id: "invoice-17", firstRunId: "other" };
  const asked = question({ id: "a1", kind: "approval", account: "mark", root });
  const { ledger, operations } = await withRow({ ...approval, question: asked });
  await expect(approveRead(operations, "invoice-17", bob)).rejects.toThrow(why);
  const [item] = await itemsOf(ledger, await ledger.rowsOf("invoice-17"));
  const reason = expect.stringContaining(why);
  expect(item).toMatchObject({ kind: "approval", reason, hash: null, choices: {} });
  // As the same input again, by whom it is started.
  const { account, request, runId, workflowId } = approval;
  const run = {
    ...request,
    account,
    workflowId,
    runId,
    type: "payout",
    batch: null,
    batchRow: null,
  };
  await ledger.recordStart(run, {
    by: "ada",
    how: "--by",
    value: { type: "payout", content: "c", firstRunId: "other" },
  });
  await approveRead(operations, "invoice-17", bob);
});

test.each(["ada", "ADA", "a d a", "Ada.", "аԁа"])(
  "the requester cannot approve as %j",
  async (by) => {
    const { ledger, operations } = await withRow(approval);
    await expect(approveRead(operations, "invoice-17", { ...bob, by })).rejects.toThrow(
      "started it",
    );
    expect(await decided(ledger)).toEqual([]);
  },
);

test("who starts the same id again has a part in it", async () => {
  const { ledger, operations } = await withRow(approval);
  await start(ledger, { ...bob, value: { type: "payout", content: "c", firstRunId: "other" } });
  await expect(approveRead(operations, "invoice-17", bob)).rejects.toThrow("Bob started it");
});

test.each(["amend", "overrule", "resend"] as const)(
  "who has a part in it (%s) cannot approve",
  async (kind) => {
    const { ledger, operations } = await withRow(approval);
    await note(ledger, kind);
    await expect(approveRead(operations, "invoice-17", { ...bob, by: "BOB" })).rejects.toThrow(
      "so another person has to approve it",
    );
  },
);

test("an approver reads who started it and how, the reference, and what changed since an approval", async () => {
  const { ledger } = await withRow(approval);
  await start(ledger, {
    by: "ada",
    how: "--by",
    value: {
      type: "payout",
      content: "c",
      approveAbove: "100.00",
      notDuplicate: "second instalment",
      file: { batch: "payouts/1", row: 3, name: "november.csv" },
    },
  });
  const value = { generation: 1, terms: "earlier", account: "other" };
  await note(ledger, "approve", { by: "Grace", step: approval.step, value });
  const changed = ["payout.amount: 100.00 → 250.00"];
  await note(ledger, "amend", { by: "ada", reason: "typo", value: { changed } });
  const item = await itemOf(ledger);
  expect(item).toMatchObject({
    amount: "250.00",
    details: [
      "Reference: Invoice 17.",
      "invoice-17: ada started payout",
      "invoice-17: ada started payout, row 3 of november.csv (payouts/1), approval above 100.00, no duplicate: second instalment",
      "invoice-17: ada amended it: payout.amount: 100.00 → 250.00: typo",
      "Grace approved it before. Changed since then: the request, the payee's account.",
    ],
  });
});

test("an approval with a hash is for what was shown, and for nothing else", async () => {
  const { ledger, operations } = await withRow(approval);
  const hash = (await itemOf(ledger))?.hash ?? "";
  expect(hash).toMatch(/^[0-9a-f]{32}$/);
  await ledger.transact(approval, ({ row: now }) =>
    now ? { row: { ...now, request: { ...now.request, hash: "other", terms: "other" } } } : {},
  );
  await expect(approveRead(operations, "invoice-17", { ...bob, hash })).rejects.toThrow(
    "It has changed: read it again",
  );
  await note(ledger, "amend", { by: "ada" });
  const again = (await itemOf(ledger))?.hash ?? "";
  expect(again).not.toBe(hash);
  await approveRead(operations, "invoice-17", { ...bob, hash: again });
  const decisions = await decided(ledger);
  expect(decisions.map(({ kind }) => kind)).toEqual(["amend", "approve"]);
  expect(decisions.at(-1)?.value).toMatchObject({ seen: expect.stringContaining("250.00 EUR") });
});

test("the approval of a child is found by its root, and kept under its own id", async () => {
  const child = { workflowId: "run-7/pay", ownerId: "run-7/pay", rootId: "run-7" };
  const { ledger, operations } = await withRow({ ...approval, ...child });
  await put(ledger, { ...approval, ...child, workflowId: "run-7/other", ownerId: "run-7/other" });
  const given = { ...bob, question: "a1" };
  await expect(approveRead(operations, "run-7", given)).rejects.toThrow("give the id of one");
  await approveRead(operations, "run-7/pay", given);
  expect(await decided(ledger, "run-7/pay")).toMatchObject([{ kind: "approve" }]);
  expect(await ledger.rows({ mustNotify: true })).toMatchObject([{ workflowId: "run-7/pay" }]);
});

test("a rejection ends the workflow id", async () => {
  const { ledger, operations } = await withRow(approval);
  await reject(operations, "invoice-17", bob);
  expect(await ledger.rowsOf("invoice-17")).toMatchObject([{ state: "ended" }]);
});

test("what is alike is answered at once, and only what was seen", async () => {
  const { ledger, operations } = await withRow();
  const seen = await itemsOf(ledger, await ledger.rows({ needsPerson: true }));
  await put(ledger, { ...asking, workflowId: "invoice-18", question: question({ id: "q2" }) });
  const all = { ...bob, choose: "resend", operation: "createPayout" } as const;
  const done = await answerAll(operations, seen, all);
  expect(done).toMatchObject({
    answered: ["invoice-17"],
    refused: [],
  });
  expect(await decided(ledger, "invoice-18")).toEqual([]);
});

test("an end is recorded for an id that Temporal has forgotten", async () => {
  const { ledger, operations } = await withRow(row({ state: "refused" }));
  expect(await cancel(operations, "invoice-17", bob)).toMatchObject({ run: "closed" });
  expect(await ledger.rowsOf("invoice-17")).toMatchObject([{ state: "ended" }]);
  await expect(cancel(operations, "invoice-99", bob)).rejects.toThrow(
    "There is no run of invoice-99",
  );
});

test("an end says what had succeeded before, and leaves it as it is", async () => {
  const paid = row({ state: "done", madeId: "po-7", knownBy: "answer" });
  const { ledger, operations } = await withRow(paid);
  await put(ledger, row({ step: "createBeneficiary", state: "done", request: noMoney }));
  expect(await cancel(operations, "invoice-17", bob)).toMatchObject({
    run: "closed",
    succeeded: [{ step: "createPayout", amount: "250.00", currency: "EUR", madeId: "po-7" }],
  });
  expect(await ledger.rowsOf("invoice-17")).toMatchObject([{ state: "done" }, { state: "done" }]);
});

test("a pause needs a reason and a known id, and its end the ledger alone: the tracker notifies who waits", async () => {
  const { ledger } = await withRow(row());
  await put(ledger, row({ workflowId: "invoice-18", state: "done" }));
  await expect(pause({ ledger }, undefined, { by: "Bob", how: "--by" })).rejects.toThrow("reason");
  await expect(pause({ ledger }, "typo", bob)).rejects.toThrow("no run or batch typo");
  const toNotify = async () =>
    (await ledger.rows({ mustNotify: true })).map(({ workflowId }) => workflowId);
  for (const of of ["invoice-17", undefined]) {
    const scope = of === undefined ? "all" : "run";
    expect(await pause({ ledger }, of, bob)).toMatchObject({ scope });
    expect(await resume({ ledger }, of, bob)).toEqual({ scope, of: of ?? "" });
    expect(await toNotify()).toEqual(["invoice-17"]);
    await ledger.transact(row(), ({ row }) => (row ? { row: { ...row, mustNotify: false } } : {}));
  }
  await pause({ ledger }, "invoice-18", bob);
  await resume({ ledger }, "invoice-18", bob);
  expect(await toNotify()).toEqual([]);
  expect(await ledger.pauses()).toEqual([]);
  await expect(resume({ ledger }, undefined, bob)).rejects.toThrow("Everything is not paused");
});

test("what an answer does to the money is said first", () => {
  expect(consequencesOf(asking).resend).toMatch(
    /^RESEND: pays twice if the first attempt went through/,
  );
  expect(consequencesOf(row({ state: "asking" })).resend).toMatch(
    /^RESEND: sends EUR 250.00 again/,
  );
});

test.each([undefined, null, "", " ", 5, {}, "yes"])(
  "nothing is approved, and no question answered, by a program that names %j as what was read",
  async (name) => {
    const { ledger, operations } = await withRow(approval);
    // A program passes on what it was sent.
    const given = { ...bob, choose: "end", hash: name, question: name } as never;
    await expect(approve(operations, "invoice-17", given)).rejects.toThrow(InvalidInput);
    await expect(approve(operations, "limits/any", given)).rejects.toThrow(InvalidInput);
    await expect(decideBatch(operations, "payouts/any", "approve", given)).rejects.toThrow(
      InvalidInput,
    );
    expect(await decided(ledger)).toEqual([]);
    const asked = await withRow();
    await expect(answer(asked.operations, "invoice-17", given)).rejects.toThrow(ControlError);
    const seen = [{ workflowId: "invoice-17", question: name as never }];
    expect(await answerAll(asked.operations, seen, given)).toMatchObject({ answered: [] });
    expect(await decided(asked.ledger)).toEqual([]);
  },
);

test("an approval that is repeated because its answer was lost is recorded once", async () => {
  const { ledger, operations } = await withRow(approval);
  const hash = await readHash(operations, "invoice-17");
  await approve(operations, "invoice-17", { ...bob, hash });
  await approve(operations, "invoice-17", { ...bob, hash });
  expect(await decided(ledger)).toMatchObject([{ kind: "approve" }]);
  await expect(approve(operations, "invoice-17", { ...bob, by: "Carol", hash })).rejects.toThrow(
    "Bob has approved it already",
  );
});
