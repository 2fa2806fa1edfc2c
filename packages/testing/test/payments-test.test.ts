import { usePaymentsTest } from "../src/vitest.ts";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { payout } from "@durable-payments/workflows";
import { describe, expect, it } from "vitest";
import { paySupplier, payTwice, sleepLong } from "./support/workflows.ts";

const payments = usePaymentsTest({
  workflowsPath: import.meta.resolve("./support/workflows.ts"),
  approveAbove: { USD: "1000.00" },
});

describe("a test", () => {
  it("has a ledger, a journal and runs of its own", async () => {
    await payments.run(paySupplier, ["12.50"], { workflowId: "the-same" });
    expect((await payments.ledger()).payouts).toHaveLength(1);
  });

  it("knows nothing of the one before", async () => {
    expect((await payments.ledger()).payouts).toEqual([]);
    await payments.run(paySupplier, ["12.50"], { workflowId: "the-same" });
    expect(await payments.replay()).toEqual(["the-same"]);
  });

  it("skips the time of several runs that are waited for at once", async () => {
    const before = await payments.now();
    const ends = await Promise.all([
      payments.run(sleepLong, []),
      payments.run(sleepLong, []),
      payments.sleep("10 days"),
      payments.run(sleepLong, []),
    ]);
    expect(Math.min(...ends.filter((end) => end !== undefined))).toBeGreaterThan(
      before + 30 * 86_400_000,
    );
  });

  it("lets time pass where nothing is waited for", async () => {
    const before = await payments.now();
    await payments.sleep("3 days");
    expect(await payments.now()).toBeGreaterThanOrEqual(before + 3 * 86_400_000);
  });

  it("waits for the end of runs by its client, too", async () => {
    const { handle } = await payments.start(sleepLong, []);
    const ends = [payments.client.workflow.result(handle.workflowId), handle.result()];
    await expect(Promise.all(ends)).resolves.toHaveLength(2);
  });
});

describe("a run", () => {
  it("that nobody approves is ended by whoever rejects it", async () => {
    const run = await payments.start(paySupplier, ["5000.00"]);
    await run.reject("Bob", "not ours");
    await expect(run.result()).rejects.toMatchObject({ cause: { type: "Rejected" } });
    expect((await payments.ledger()).payouts).toEqual([]);
  });

  it("cannot be approved by whoever started it", async () => {
    const run = await payments.start(paySupplier, ["5000.00"], { startedBy: "Ada" });
    await expect(run.approve("Ada")).rejects.toThrow("Ada");
  });

  it("that asks a person goes on with the answer", async () => {
    await payments.temperament({ oddRows: 1, oddRowForm: "no-id" });
    await payments.fault("dropped", { operation: "createPayout" });
    const run = await payments.start(paySupplier, ["12.50"]);
    const { operation } = await run.untilAsked();
    const { payouts } = await payments.ledger();
    expect([operation, payouts.length]).toEqual(["createPayout", 1]);
    await run.resolve("Ada", { found: { payout_id: payouts[0]?.payout_id ?? "" } });
    expect(await run.result()).toBe("completed");
  });

  it("whose request never arrived is sent again, after the time that takes", async () => {
    await payments.fault("dropped-before", { operation: "createPayout" });
    expect(await payments.run(paySupplier, ["12.50"])).toBe("completed");
    const { payouts, requests } = await payments.ledger();
    expect([payouts.length, requests["createPayout"]]).toEqual([1, 2]);
  });

  it("finds a payout that the service lists late and without its key", async () => {
    await payments.temperament({ payoutKeys: "dropped", listLagMs: 20_000 });
    await payments.fault("dropped", { operation: "createPayout" });
    expect(await payments.run(paySupplier, ["12.50"])).toBe("completed");
    expect((await payments.ledger()).payouts).toHaveLength(1);
  });

  it("goes on after a restart of its worker", async () => {
    const run = await payments.start(paySupplier, ["5000.00"]);
    await run.untilStage("awaitApproval");
    await payments.restartWorker();
    await run.approve("Bob");
    expect(await run.result()).toBe("completed");
  });

  it("is replayed with its children", async () => {
    expect(await payments.run(payTwice, [])).toEqual(["completed", "completed"]);
    expect(await payments.replay()).toHaveLength(3);
  });

  it("of the project's own workflows can be started, too", async () => {
    const run = await payments.start(payout, [
      { beneficiary_id: "of-nobody", payout: { ...inputs.payout, currency: "USD" } },
    ]);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: "Refused" } });
  });
});
