import { openLedger } from "@durable-payments/ledger";
import { expect, test } from "vitest";
import { answer, answerAll, approve, findAlike, reject } from "../../src/actions/decide/index.ts";
import { consequencesOf } from "../../src/rules/consequences.ts";
import { cancel, pause, resume } from "../../src/actions/stopping.ts";
import { put, question, row } from "../support/rows.ts";
import { operationsOn } from "../support/stub-client.ts";

const bob = { by: "Bob", how: "--by", reason: "looked at the bank" };
const asking = row({ state: "asking", doubt: 1, question: question() });
const approval = row({
  startedBy: "ada",
  question: question({ id: "a1", kind: "approval", account: "mark" }),
});
const noMoney = { ...approval.request, amount: null, currency: null };

const withRow = async (given = asking, signals: "taken" | "noRun" | "silent" = "taken") => {
  const ledger = await openLedger("memory");
  await put(ledger, given);
  return { ledger, ...operationsOn(ledger, signals) };
};

test("an answer is recorded for its question, marks the row, and nudges the step", async () => {
  const { asked, ledger, operations } = await withRow();
  const given = { ...bob, choose: "resend", question: "q1" } as const;
  const { decision, nudged } = await answer(operations, "invoice-17", given);
  expect(decision).toMatchObject({
    kind: "resend",
    step: "createPayout",
    question: "q1",
    by: "Bob",
  });
  expect(nudged).toBe("nudged");
  expect(asked.signals).toEqual([
    ["invoice-17", "durable-payments/nudge", { steps: ["createPayout"] }],
  ]);
  expect(await ledger.rowsOf("invoice-17")).toMatchObject([{ state: "asking", isUntold: true }]);
});

test("a decision is recorded though Temporal does not answer, and says so", async () => {
  const { ledger, operations } = await withRow(asking, "silent");
  const given = { ...bob, choose: "found", question: "q1", found: " P-1 " } as const;
  const { nudged } = await answer(operations, "invoice-17", given);
  expect(nudged).toBe("unanswered");
  expect(await ledger.decisionsOf("invoice-17")).toMatchObject([{ value: { id: "P-1" } }]);
});

test("an answer for another question is refused with the present one", async () => {
  const { ledger, operations } = await withRow();
  const given = { ...bob, choose: "resend", question: "q0" } as const;
  await expect(answer(operations, "invoice-17", given)).rejects.toThrow(
    /q0 is not open.*asks now \(q1, createPayout\)/,
  );
  expect(await ledger.decisionsOf("invoice-17")).toEqual([]);
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
  [{ choose: "resend", found: "P-1" }, "can be given only with --choose found"],
  [{ choose: "resend", by: " " }, "must not be empty"],
] as const)("an answer %j is refused", async (given, message) => {
  const { operations } = await withRow();
  const whole = { ...bob, question: "q1", ...given } as const;
  await expect(answer(operations, "invoice-17", whole)).rejects.toThrow(message);
});

test("an approval names generation, hash and the payee's account", async () => {
  const { ledger, operations } = await withRow(approval);
  await approve(operations, "invoice-17", bob);
  expect(await ledger.decisionsOf("invoice-17")).toMatchObject([
    { kind: "approve", question: "a1", value: { generation: 1, hash: "h", account: "mark" } },
  ]);
});

test("nobody can approve a run that does not say who started it", async () => {
  const ledger = await openLedger("memory");
  // Noted for another run of the id, it says nothing of this one.
  await put(ledger, { ...approval, startedBy: null });
  const { operations } = operationsOn(ledger);
  await expect(approve(operations, "invoice-17", bob)).rejects.toThrow("does not say who started");
  const known = { ...approval, startedBy: "Ada", workflowId: "invoice-18" };
  await ledger.transact(known, () => ({ row: known }));
  const ada = { ...bob, by: "ada" };
  await expect(approve(operations, "invoice-18", ada)).rejects.toThrow("started it");
  await approve(operations, "invoice-18", bob);
});

test.each(["ada", "ADA", "a d a", "Ada."])("the requester cannot approve as %j", async (by) => {
  const { ledger, operations } = await withRow(approval);
  await expect(approve(operations, "invoice-17", { ...bob, by })).rejects.toThrow("started it");
  expect(await ledger.decisionsOf("invoice-17")).toEqual([]);
});

test.each(["amend", "overrule", "resend"] as const)(
  "who has a part in it (%s) cannot approve",
  async (kind) => {
    const { ledger, operations } = await withRow(approval);
    const { account, workflowId } = approval;
    const value = {};
    await ledger.decide({ ...bob, account, workflowId, step: null, kind, question: null, value });
    await expect(approve(operations, "invoice-17", { ...bob, by: "BOB" })).rejects.toThrow(
      "so another person has to approve it",
    );
  },
);

test("a rejection ends the workflow id", async () => {
  const { ledger, operations } = await withRow(approval);
  await reject(operations, "invoice-17", bob);
  expect(await ledger.rowsOf("invoice-17")).toMatchObject([{ state: "ended" }]);
});

test("what is alike is answered at once, and only what was seen", async () => {
  const { ledger, operations } = await withRow();
  const seen = await findAlike(operations, "createPayout");
  await put(ledger, { ...asking, workflowId: "invoice-18", question: question({ id: "q2" }) });
  const all = { ...bob, choose: "resend", operation: "createPayout" } as const;
  const done = await answerAll(operations, seen, all);
  expect(done).toMatchObject({
    answered: ["invoice-17"],
    refused: [],
    unanswered: 0,
  });
  expect(await ledger.decisionsOf("invoice-18")).toEqual([]);
});

test("an end is recorded for an id that Temporal has forgotten", async () => {
  const { ledger, operations } = await withRow(row({ state: "refused" }));
  expect(await cancel(operations, "invoice-17", bob)).toMatchObject({ run: "closed" });
  expect(await ledger.rowsOf("invoice-17")).toMatchObject([{ state: "ended" }]);
  await expect(cancel(operations, "invoice-99", bob)).rejects.toThrow("There is no run invoice-99");
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

test("a pause needs a reason and a known id, and its end nudges who waits", async () => {
  const { asked, ledger, operations } = await withRow(row());
  await expect(pause(operations, undefined, { by: "Bob", how: "--by" })).rejects.toThrow("reason");
  await expect(pause(operations, "typo", bob)).rejects.toThrow("no run or batch typo");
  expect(await pause(operations, "invoice-17", bob)).toMatchObject({ scope: "run" });
  expect(await resume(operations, "invoice-17", bob)).toMatchObject({ nudged: 1 });
  expect(asked.signals).toHaveLength(1);
  expect(await ledger.pauses()).toEqual([]);
  await expect(resume(operations, undefined, bob)).rejects.toThrow("Everything is not paused");
});

test("pause and resume need the ledger alone: without Temporal the tracker nudges who waits", async () => {
  const { ledger } = await withRow(row());
  await pause({ ledger }, undefined, bob);
  expect(await ledger.pauses()).toMatchObject([{ scope: "all", by: "Bob" }]);
  const resumed = await resume({ ledger, client: undefined }, undefined, bob);
  expect(resumed).toMatchObject({ nudged: 0, unanswered: 1 });
  expect(await ledger.rowsOf("invoice-17")).toMatchObject([{ isUntold: true }]);
});

test("what an answer does to the money is said first", () => {
  expect(consequencesOf(asking).resend).toMatch(
    /^RESEND: pays twice if the first attempt went through/,
  );
  expect(consequencesOf(row({ state: "asking" })).resend).toMatch(
    /^RESEND: sends EUR 250.00 again/,
  );
});
