import { lateAfterMsOf } from "@durable-payments/protocol/settings";
import { defaultAssumptions } from "@durable-payments/client/effect";
import { openLedger } from "@durable-payments/ledger";
import { expect, test } from "vitest";
import { answer } from "../../src/actions/decide/answer.ts";
import { decideWord } from "../../src/actions/words.ts";
import { readInbox } from "../../src/views/inbox.ts";
import { readRun } from "../../src/views/run.ts";
import { ACCOUNT, put, question, row } from "../support/rows.ts";

const asking = (workflowId: string, amount: string, since: number, currency = "EUR") => {
  const asked = row({ workflowId, state: "asking", doubt: 1, question: question({ since }) });
  return { ...asked, request: { ...asked.request, amount, currency } };
};

test("the inbox has decisions first, larger sums and older items before others, and all that stands still", async () => {
  const ledger = await openLedger("memory");
  await put(ledger, asking("small-old", "5.00", 1));
  await put(ledger, asking("large", "900.00", 3));
  await put(ledger, asking("small-new", "5.00", 2));
  const paid = row({ state: "done", madeId: "p-1", workflowId: "late" });
  const request = { ...paid.request, amount: "9999.00", paymentDate: "2026-01-02" };
  await put(ledger, { ...paid, request });
  const { items } = await readInbox(ledger, lateAfterMsOf());
  expect(items.map(({ kind, workflowId }) => [kind, workflowId])).toEqual([
    ["question", "large"],
    ["question", "small-old"],
    ["question", "small-new"],
    ["late", "late"],
  ]);
  expect(items.at(-1)).toMatchObject({
    things: { count: 1, money: [{ amount: "9999.00", currency: "EUR" }] },
    next: [{ action: "list", isLate: true }],
  });
});

test("larger sums come first in each currency, whatever the age of those in another one", async () => {
  const ledger = await openLedger("memory");
  const given = [
    ["USD", "150.00"],
    ["EUR", "16.00"],
    ["USD", "100.00"],
    ["EUR", "26.00"],
    ["USD", "150.00"],
    ["EUR", "14.00"],
  ] as const;
  for (const [at, [currency, amount]] of given.entries())
    await put(ledger, asking(`run-${at}`, amount, at, currency));
  const { items } = await readInbox(ledger, lateAfterMsOf());
  expect(items.map(({ amount, currency, since }) => `${currency} ${amount} ${since}`)).toEqual([
    "EUR 26.00 3",
    "EUR 16.00 1",
    "EUR 14.00 5",
    "USD 150.00 0",
    "USD 150.00 4",
    "USD 100.00 2",
  ]);
});

test("a status that nobody listed is a question, and its answer a decision of the account", async () => {
  const ledger = await openLedger("memory");
  await put(ledger, row({ state: "done", madeId: "p-1" }));
  const seen = { word: "Paid out", outcome: null, asks: true, problem: null } as const;
  await ledger.sawPayout(ACCOUNT, "p-1", seen);
  const { items } = await readInbox(ledger, lateAfterMsOf());
  expect(items).toMatchObject([
    { kind: "word", next: [{ action: "word", workflowId: "Paid out", account: ACCOUNT }] },
  ]);
  const acting = { by: "ada", how: "--by", reason: "statement of 3 May" };
  await expect(
    decideWord({ ledger }, ACCOUNT, "Paid out", "completed", { by: "ada", how: "--by" }),
  ).rejects.toMatchObject({ name: "InvalidInput" });
  await decideWord({ ledger }, ACCOUNT, "Paid out", "completed", acting);
  expect([...(await ledger.words(ACCOUNT))]).toEqual([["paid out", "completed"]]);
});

test("a decision about a word reaches no further than the word of which somebody is asked, and says what it concerns", async () => {
  const ledger = await openLedger("memory");
  const acting = { by: "ada", how: "--by", reason: "statement of 3 May" };
  const say = (word: string, means: "completed" | "failed") =>
    decideWord({ ledger }, ACCOUNT, word, means, acting, defaultAssumptions);
  for (const word of ["completed", "Rejected", "reversed", " PROCESSING"])
    await expect(say(word, "failed")).rejects.toMatchObject({
      name: "NotAllowed",
      message: expect.stringContaining("assumptions."),
    });
  await expect(say("Gutgeschrieben", "completed")).rejects.toMatchObject({ name: "NotAllowed" });
  await put(ledger, row({ state: "done", madeId: "p-1" }));
  const seen = { word: "Gutgeschrieben", outcome: null, asks: false, problem: null } as const;
  await ledger.sawPayout(ACCOUNT, "p-1", { ...seen, isUnlisted: true });
  const sum = { amount: "250.00", currency: "EUR", count: 1, example: "invoice-17" };
  const underWay = { ...sum, state: "underWay" };
  const paid = { ...sum, state: "paid" };
  expect(await say("gutgeschrieben", "completed")).toMatchObject({
    before: null,
    payouts: [underWay],
  });
  await ledger.sawPayout(ACCOUNT, "p-1", { ...seen, outcome: "completed", isDecided: true });
  expect(await say("Gutgeschrieben", "failed")).toMatchObject({
    before: { by: "ada", means: "completed" },
    payouts: [paid],
  });
});

test("a run names the word that nobody listed with its command, and the person by whose word it was paid", async () => {
  const ledger = await openLedger("memory");
  const sources = { ledger, temporal: undefined, whyNot: [] };
  await put(ledger, row({ state: "done", madeId: "p-1" }));
  const seen = { word: "Paid out", outcome: null, asks: false, problem: null } as const;
  await ledger.sawPayout(ACCOUNT, "p-1", { ...seen, isUnlisted: true });
  const asks = await readRun(sources, "invoice-17");
  expect(asks.reason).toContain('the service says "Paid out", which no setting lists');
  expect(asks.next[0]).toEqual({ action: "word", workflowId: "Paid out", account: ACCOUNT });
  const acting = { by: "ada", how: "--by", reason: "statement of 3 May" };
  await decideWord({ ledger }, ACCOUNT, "Paid out", "failed", acting);
  await ledger.sawPayout(ACCOUNT, "p-1", { ...seen, outcome: "failed", isDecided: true });
  const failed = await readRun(sources, "invoice-17");
  expect(failed.reason).toContain('ada said that the status "Paid out" means failed');
  expect(failed.steps[0]?.text).toContain('as ada said of the word "Paid out"');
  expect(failed.next[0]?.action).not.toBe("word");
});

test.each([
  ["payout", "APPROVE: pays exactly these rows, to these accounts."],
  [
    "repair",
    "APPROVE: lets the repair begin: it retries exactly these runs, with these inputs. It approves none of their payments.",
  ],
  ["onboardCardholder", "APPROVE: issues exactly these cards, to these people."],
])("the approval of a file says what it does: %s", async (type, approve) => {
  const ledger = await openLedger("memory");
  const about = {
    id: "file-1",
    account: ACCOUNT,
    type,
    file: "may.csv",
    contentHash: "c",
    rows: 1,
  };
  const people = { createdBy: "ada", createdAt: 0, approvedBy: null, details: "{}", chunks: 1 };
  await ledger.saveBatch(about.id, () => ({
    batch: { ...about, ...people, state: "needsApproval" },
  }));
  const { items } = await readInbox(ledger, 1);
  expect(items[0]?.choices).toMatchObject({ approve });
});

test("an item names the payee beside its id", async () => {
  const ledger = await openLedger("memory");
  await put(ledger, asking("asks", "5.00", 1));
  const shown = "Muster GmbH, DE, account ending in 2051";
  await ledger.rememberPayees(ACCOUNT, [{ payee: "b-1", mark: null, shown }]);
  const { items } = await readInbox(ledger, lateAfterMsOf());
  expect(items).toMatchObject([{ payee: "b-1", payeeName: shown }]);
});

test("an answered question waits for its run, and for no person, until its answer is void", async () => {
  const ledger = await openLedger("memory");
  await put(ledger, asking("invoice-17", "5.00", 1));
  const open = async () => (await readInbox(ledger, lateAfterMsOf())).items.length;
  const seen = () => readRun({ ledger, temporal: undefined, whyNot: [] }, "invoice-17");
  const acting = { by: "ada", how: "--by", reason: "not in the list" };
  expect(await open()).toBe(1);
  await answer({ ledger }, "invoice-17", { ...acting, choose: "resend", question: "q1" });
  expect(await open()).toBe(0);
  const { inbox, reason, steps } = await seen();
  expect(inbox).toEqual([]);
  expect(reason).toBe("createPayout is answered; its run continues when Temporal is back");
  expect(steps).toMatchObject([{ text: "answered; its run continues when Temporal is back" }]);
  // An override makes all earlier answers void.
  const on = { account: ACCOUNT, workflowId: "invoice-17", step: null, question: null, value: {} };
  await ledger.decide({ ...acting, ...on, kind: "overrule" });
  expect(await open()).toBe(1);
  expect((await seen()).inbox).toMatchObject([{ question: "q1" }]);
});
