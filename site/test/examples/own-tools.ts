import { type InboxItem, openPayments, type Payments } from "durable-payments/start";
import assert from "node:assert/strict";

// The snippets of docs/build-your-own-tools.md and of the docstrings of openPayments, which only have to compile: tests of
// control and of the published package call every method.

type Input = Parameters<Payments["pay"]>[0];
declare const payOrder: (order: object) => Promise<string>;

export async function open(input: Input) {
  // #region example
  await using payments = await openPayments();
  const run = await payments.pay(input, { key: "invoice-17", by: "ada" });
  // #endregion
  return run;
}

export async function useAll(
  payments: Payments,
  input: Input & Parameters<Payments["onboard"]>[0],
  order: Parameters<typeof payOrder>[0],
  {
    id,
    item,
    question,
  }: {
    readonly id: string;
    readonly item: InboxItem;
    readonly question: string;
  },
) {
  {
    // #region example
    const run = await payments.pay(input, { key: "invoice-17", by: "ada" });
    // #endregion
    assert.ok([run]);
  }
  {
    // #region example
    await payments.onboard(input, { key: "employee-4", by: "ada" });
    // #endregion
  }
  {
    // #region example
    await payments.start<typeof payOrder>("payOrder", {
      key: "order-17",
      by: "ada",
      args: [order],
    });
    // #endregion
  }
  {
    // #region example
    const { batch, totals, warnings } = await payments.checkFile("october.csv", { by: "ada" });
    // #endregion
    assert.ok([batch, totals, warnings]);
  }
  {
    // #region example
    const { batch, state } = await payments.payFile("october.csv", { by: "ada" });
    // #endregion
    assert.ok([batch, state]);
  }
  {
    // #region example
    const { workflowId } = await payments.pay(input, { key: "invoice-17", by: "ada" });
    const first = await payments.firstAnswer(workflowId);
    if (first.is === "created") console.log(first.id);
    // #endregion
  }
  {
    // #region example
    const { batch, state } = await payments.onboardFile("people.csv", { by: "ada" });
    // #endregion
    assert.ok([batch, state]);
  }
  {
    // #region example
    const { runs, next, totals } = await payments.list({ statuses: ["failed"] });
    // #endregion
    assert.ok([runs, next, totals]);
  }
  {
    // #region example
    for await (const { workflowId, status } of payments.listAll({ payee: "Muster AG" }))
      console.log(workflowId, status);
    // #endregion
  }
  {
    // #region example
    const { lines } = await payments.report({ since: Date.parse("2026-11-01") }, "payee");
    // #endregion
    assert.ok([lines]);
  }
  {
    const repair = id;
    // #region example
    const { duplicates, isProved } = await payments.duplicates({ batch: repair });
    // #endregion
    assert.ok([duplicates, isProved]);
  }
  {
    // #region example
    const { status, reason, next } = await payments.show("payout/invoice-17");
    // #endregion
    assert.ok([status, reason, next]);
  }
  {
    // #region example
    for await (const { status } of payments.follow("payout/invoice-17")) console.log(status);
    // #endregion
  }
  {
    // #region example
    const { lines } = await payments.log("payout/invoice-17");
    // #endregion
    assert.ok([lines]);
  }
  {
    // #region example
    const [latest] = await payments.batches({ limit: 1 });
    // #endregion
    assert.ok([latest]);
  }
  {
    // #region example
    const { listed } = await payments.batch(id, { isWhole: true });
    // #endregion
    assert.ok([listed]);
  }
  {
    // #region example
    for await (const { totals } of payments.followBatch(id)) console.log(totals);
    // #endregion
  }
  {
    // #region example
    for await (const { type, workflowId } of payments.events({ isFollowed: true }))
      console.log(type, workflowId);
    // #endregion
  }
  {
    // #region example
    const { items } = await payments.inbox();
    // #endregion
    assert.ok([items]);
  }
  {
    // #region example
    const [item] = await payments.decisionsOn("payout/invoice-17");
    // #endregion
    assert.ok([item]);
  }
  {
    // #region example
    const { failed, inbox, underWay } = await payments.overview();
    // #endregion
    assert.ok([failed, inbox, underWay]);
  }
  {
    // #region example
    const { isWell, checks } = await payments.doctor();
    // #endregion
    assert.ok([isWell, checks]);
  }
  {
    // #region example
    await payments.answer(id, { question, choose: "end", by: "ada", reason: "order withdrawn" });
    // #endregion
  }
  {
    // #region example
    for await (const { type, workflowId } of payments.events({ isFollowed: true }))
      console.log(type, workflowId);
    // #endregion
  }
  {
    // #region example
    const { items } = await payments.inbox();
    await payments.answerAll(
      items.filter(({ kind }) => kind === "question"),
      { choose: "resend", by: "ada", reason: "outage" },
    );
    // #endregion
  }
  {
    // #region example
    await payments.approve(item.workflowId, {
      hash: item.hash ?? "",
      by: "grace",
      how: "single sign-on",
    });
    // #endregion
  }
  {
    // #region example
    await payments.reject(id, { by: "grace", reason: "wrong payee" });
    // #endregion
  }
  {
    // #region example
    await payments.retry(id, {
      by: "ada",
      reason: "amount",
      amend: { payout: { amount: "12.50" } },
    });
    // #endregion
  }
  {
    // #region example
    const [largest] = await payments.failed({ type: "onboardCardholder" });
    // #endregion
    assert.ok([largest]);
  }
  {
    // #region example
    const plan = await payments.planRepair({ batch: id }, { by: "ada" });
    // #endregion
    assert.ok([plan]);
  }
  {
    // #region example
    const { repair } = await payments.repair({ batch: id }, { by: "ada", reason: "outage" });
    // #endregion
    assert.ok([repair]);
  }
  {
    // #region example
    const { succeeded } = await payments.cancel(id, { by: "ada", reason: "order withdrawn" });
    // #endregion
    assert.ok([succeeded]);
  }
  {
    // #region example
    const { goOn } = await payments.cancelBatch(id, { by: "ada", reason: "wrong file" });
    // #endregion
    assert.ok([goOn]);
  }
  {
    // #region example
    await payments.pause({ by: "ada", reason: "wrong balance" });
    // #endregion
  }
  {
    // #region example
    await payments.resume({ by: "ada" });
    // #endregion
  }
  {
    // #region example
    const limits = await payments.limits();
    // #endregion
    assert.ok([limits]);
  }
  {
    // #region example
    await payments.setLimits({ maxAmounts: { EUR: "1000.00" }, by: "ada", reason: "audit" });
    // #endregion
  }
  {
    // #region example
    const words = await payments.words();
    // #endregion
    assert.ok([words]);
  }
  {
    // #region example
    await payments.word({
      word: "Paid out",
      means: "completed",
      by: "ada",
      reason: "the bank statement",
    });
    // #endregion
  }
  {
    // #region example
    const { files, unfinished } = await payments.upkeep.recover({ by: "ada", isDryRun: true });
    // #endregion
    assert.ok([files, unfinished]);
  }
  {
    // #region example
    const { runs } = await payments.upkeep.replay({ isOpen: true, workflows: "src/workflows.ts" });
    // #endregion
    assert.ok([runs]);
  }
}

export async function useGiven(
  payments: Payments,
  {
    after,
    handle,
    workflowId,
  }: {
    readonly after: string;
    readonly handle: (event: object) => Promise<void>;
    readonly workflowId: string;
  },
) {
  {
    // #region example
    for await (const event of payments.events({ after, isFollowed: true })) await handle(event);
    // #endregion
  }
  {
    // #region example
    const { groups } = await payments.upkeep.previewRetries([{ workflowId }], {
      against: "../next-release",
    });
    // #endregion
    assert.ok([groups]);
  }
}
