/**
 * A dev server keeps real time and runs the trackers. The tests of a file share the server, so what a worker keeps running
 * there must end with its test: a tracker of the test before would take the next test's ledger for a restored one.
 */
import { describe, expect, it } from "vitest";
import { usePaymentsTest } from "../src/index.ts";
import { describeStanding } from "../src/standing.ts";
import { paySupplier } from "./support/workflows.ts";

const workflowsPath = import.meta.resolve("./support/workflows.ts");
const real = { workflowsPath, server: "dev", simulator: { settleAfter: "3 seconds" } } as const;

describe("on a dev server", async () => {
  const payments = await usePaymentsTest({ ...real, waitLimitMs: 25_000 });

  it.each(["first", "second"])("the %s test of a file waits for its payout", async () => {
    expect(await payments.run(paySupplier, ["12.50"])).toBe("completed");
    expect((await payments.ledger.state()).stopped).toBeNull();
  });

  it("a run of one's own that was refused is continued by a retry, within the test", async () => {
    await payments.fault("refusal-in-200", { operation: "createPayout" });
    const failed = await payments.start(paySupplier, ["12.50"]);
    await expect(failed.result()).rejects.toMatchObject({ cause: { type: "Refused" } });
    const run = await failed.retry("Bob");
    // A reset is recorded as a failed task.
    expect(
      await describeStanding({ accounts: [], ledger: payments.ledger }, run.handle),
    ).not.toContain("Its code throws");
    expect(await run.result()).toBe("completed");
    const { beneficiaries, payouts } = await payments.service();
    expect([beneficiaries.length, payouts.length]).toEqual([1, 1]);
  });
});

describe("on a dev server with accounts", async () => {
  const payments = await usePaymentsTest({ ...real, waitLimitMs: 25_000, accounts: ["eu"] });

  it.each(["first", "second"])("the %s test of a file waits for both payouts", async () => {
    const runs = [
      payments.run(paySupplier, ["12.50"]),
      payments.run(paySupplier, ["8.00", null, "eu"]),
    ];
    expect(await Promise.all(runs)).toEqual(["completed", "completed"]);
    expect((await payments.ledger.state()).stopped).toBeNull();
  });

  it("its payments are opened as a server does: a key is paid once, from a named account", async () => {
    const opened = payments.open();
    const start = () =>
      opened.start<typeof paySupplier>("paySupplier", {
        key: "17",
        by: "Ada",
        account: "eu",
        args: ["8.00", null, "eu"],
      });
    const [first, again] = [await start(), await start()];
    const { workflowId } = first;
    expect([first.isNew, again.isNew]).toEqual([true, false]);
    expect(await payments.runOf(workflowId).result()).toBe("completed");
    expect((await payments.accounts.eu?.state())?.payouts).toHaveLength(1);
  });
});
