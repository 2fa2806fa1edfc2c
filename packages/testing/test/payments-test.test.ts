import { startPayment } from "@durable-payments/control/start";
import { payout } from "@durable-payments/workflows";
import { describe, expect, it } from "vitest";
import { CannotReset, createPaymentsTest, NotReplayable, usePaymentsTest } from "../src/index.ts";
import { noteAndSleep, paySupplier, sleepLong, waitForNothing } from "./support/workflows.ts";

const payments = await usePaymentsTest({
  workflowsPath: import.meta.resolve("./support/workflows.ts"),
  approveAbove: { USD: "1000.00" },
  accounts: ["eu"],
  activities: { note: async (text: string) => text },
});

describe("a test", () => {
  it.each([
    [{ workflowPath: "x" }, "A test has no option workflowPath: use one of accounts, "],
    [{ waitLimitMs: Number.NaN }, "waitLimitMs must be milliseconds above zero."],
  ])("with %j is refused, however it is made", async (options, message) => {
    await expect(createPaymentsTest(options as object)).rejects.toThrow(message);
    await expect(usePaymentsTest(options as object)).rejects.toThrow(message);
  });

  it("has a service, a ledger and runs of its own", async () => {
    await payments.run(paySupplier, ["12.50"], { workflowId: "the-same" });
    expect((await payments.service()).payouts).toHaveLength(1);
  });

  it("knows nothing of the one before", async () => {
    expect((await payments.service()).payouts).toEqual([]);
    const run = await payments.start(paySupplier, ["12.50"], { workflowId: "another" });
    expect(await run.result()).toBe("completed");
    expect(await payments.replay()).toEqual(["another"]);
  });

  it("has a service for each account: what one pays, the other does not hold", async () => {
    const { eu } = payments.accounts;
    await payments.run(paySupplier, ["12.50", null, "eu"]);
    expect((await eu?.state())?.payouts).toHaveLength(1);
    expect((await payments.service()).payouts).toEqual([]);
  });

  it("has the ledger, in which a start of durable-payments/start is recorded", async () => {
    const { client, ledger, taskQueue } = payments;
    const run = await startPayment<typeof paySupplier>(client, "paySupplier", {
      key: "17",
      startedBy: "Ada",
      args: ["12.50"],
      ledger,
      taskQueue,
    });
    expect(await run.result()).toBe("completed");
    const [start] = await ledger.decisionsOf("paySupplier/17");
    expect(start).toMatchObject({ kind: "start", by: "Ada" });
  });

  it("skips the time of several runs that are waited for at once", async () => {
    const before = await payments.now();
    await Promise.all([payments.run(sleepLong, []), payments.sleep("10 days")]);
    expect(await payments.now()).toBeGreaterThan(before + 29 * 86_400_000);
  });
});

describe("a run", () => {
  it("whose answer is lost pays once", async () => {
    await payments.fault("dropped", { operation: "createPayout" });
    expect(await payments.run(paySupplier, ["12.50"])).toBe("completed");
    expect((await payments.service()).payouts).toHaveLength(1);
  });

  it("whose request never arrived is sent again, after the time that takes", async () => {
    await payments.fault("dropped-before", { operation: "createPayout" });
    expect(await payments.run(paySupplier, ["12.50"])).toBe("completed");
    const { payouts, requests } = await payments.service();
    expect([payouts.length, requests["createPayout"]]).toEqual([1, 2]);
  });

  it("pays once a second person has approved it", async () => {
    const run = await payments.start(paySupplier, ["5000.00"], { startedBy: "Ada" });
    await expect(run.approve("Ada")).rejects.toThrow("Ada");
    await run.approve("Bob");
    expect(await run.result()).toBe("completed");
  });

  it("pays under a key once a second person has approved it", async () => {
    const run = await payments.start(paySupplier, ["5000.00", "invoice-17"]);
    await run.approve("Bob");
    expect(await run.result()).toBe("completed");
  });

  it("that is rejected fails, and pays nothing", async () => {
    const run = await payments.start(paySupplier, ["5000.00"]);
    await run.reject("Bob", "not ours");
    await expect(run.result()).rejects.toMatchObject({ cause: { type: "Rejected" } });
    expect((await payments.service()).payouts).toEqual([]);
  });

  it("that asks a person takes the answer", async () => {
    await payments.temperament({ payoutKeys: "dropped" });
    await payments.fault("dropped", { operation: "createPayout" });
    const run = await payments.start(paySupplier, ["12.50"]);
    const { operation } = await run.untilAsked();
    const { payouts } = await payments.service();
    expect([operation, payouts.length]).toEqual(["createPayout", 1]);
    await run.answer("Ada", { found: payouts[0]?.payout_id ?? "" });
    expect(await run.result()).toBe("completed");
  });

  it("pays once if its worker crashes between request and response", async () => {
    await payments.crashAfter("createPayout");
    expect(await payments.run(paySupplier, ["12.50"])).toBe("completed");
    expect((await payments.service()).payouts).toHaveLength(1);
  });

  it("that was refused is retried, and pays once", async () => {
    await payments.fault("refusal-in-200", { operation: "createPayout" });
    const failed = await payments.start(paySupplier, ["12.50"]);
    await expect(failed.result()).rejects.toMatchObject({ cause: { type: "Refused" } });
    await expect(failed.retry("Bob")).rejects.toBeInstanceOf(CannotReset);
    const run = await failed.retry("Bob", { isRestarted: true });
    expect(await run.result()).toBe("completed");
    const { beneficiaries, payouts } = await payments.service();
    expect([beneficiaries.length, payouts.length]).toEqual([1, 1]);
    expect(await payments.replay()).toHaveLength(2);
  });

  it("has come to an activity that is over, even if the run has ended as well", async () => {
    const run = await payments.start(noteAndSleep, []);
    await run.untilStage("note");
    await run.result();
    await run.untilStage("note");
    await expect(run.untilStage("createPayout")).rejects.toThrow("has ended (COMPLETED)");
  });

  it("does not replay under other code, and the message shows the event", async () => {
    await payments.run(paySupplier, ["12.50"]);
    const other = import.meta.resolve("./support/changed-workflows.ts");
    await expect(payments.replay(other)).rejects.toBeInstanceOf(NotReplayable);
  });

  it("of the project's own workflows can be started, too", async () => {
    const run = await payments.start(payout, [
      {
        beneficiary_id: "of-nobody",
        payout: {
          amount: "10.00",
          currency: "USD",
          payout_reason: "Payment for goods",
          payment_date: "2026-12-01",
          is_payer: "Y",
        },
      },
    ]);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: "Refused" } });
  });
});

it("a fault that does not happen fails the test, and so does a stage that is no activity", async () => {
  const test = await createPaymentsTest({
    workflowsPath: import.meta.resolve("./support/workflows.ts"),
    server: "dev",
    waitLimitMs: 1_500,
  });
  await test.fault("dropped", { operation: "createCard" });
  const run = await test.start(waitForNothing, []);
  await expect(run.untilStage("sleep")).rejects.toThrow("activity sleep (only activities count");
  await expect(test.dispose()).rejects.toThrow("The fault dropped of createCard did not happen");
}, 60_000);

describe("a wait", async () => {
  const short = await usePaymentsTest({
    workflowsPath: import.meta.resolve("./support/workflows.ts"),
    server: "dev",
    waitLimitMs: 1_500,
  });

  it("that lasts too long says what the run waits for", async () => {
    const run = await short.start(waitForNothing, []);
    await expect(run.result()).rejects.toThrow(
      /did not end within the limit.*not waiting for an activity/s,
    );
  });

  it("for an account that no worker serves says so", async () => {
    const run = await short.start(paySupplier, ["12.50", null, "nope"]);
    await expect(run.result()).rejects.toThrow('No worker of this test has the account "nope".');
  });
});

describe("the waits of a test", async () => {
  const left = await usePaymentsTest({
    workflowsPath: import.meta.resolve("./support/workflows.ts"),
    server: "dev",
  });

  it("share the time that Vitest gives it, so the last one says what the run waits for", async () => {
    const run = await left.start(waitForNothing, []);
    await expect(run.result()).rejects.toThrow("not waiting for an activity");
    // Vitest would end it without a word of the run.
    await expect(run.result()).rejects.toThrow("not waiting for an activity");
  }, 8_000);
});
