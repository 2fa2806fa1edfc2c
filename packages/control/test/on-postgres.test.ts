import { defaultAssumptions } from "@durable-payments/client/effect";
import { LedgerUnavailable } from "@durable-payments/ledger";
import { BreakingProxy } from "@durable-payments/tools/breaking-proxy";
import { type Postgres, startPostgres, whyNoPostgres } from "@durable-payments/tools/postgres";
import { skippedBecause } from "@durable-payments/tools/skip";
import { makeTestFolder } from "@durable-payments/tools/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { checkBatchFile, payFile, planFile } from "../src/actions/batch/index.ts";
import { planPayout } from "../src/rules/input.ts";
import { recover } from "../src/actions/recovery.ts";
import { retryPayment } from "../src/actions/retry/retry.ts";
import { startRun } from "../src/actions/start.ts";
import { pause, resume } from "../src/actions/stopping.ts";
import { type Payments, paymentsOn, payout, type RealStack } from "./support/payments.ts";
import { startRealStack } from "./support/real-stack.ts";
import { approveRead } from "./support/approving.ts";

const ada = { startedBy: "ada" };
const bob = { by: "bob", how: "--by", reason: "tried again" };
const WITHIN = { timeout: 60_000, interval: 100 };

// What the other files test with a ledger in memory, with a ledger whose connections break, hang and are slow.
describe("a deployment with a ledger in PostgreSQL", skippedBecause(whyNoPostgres()), () => {
  const folder = makeTestFolder();
  const uncaught: Array<unknown> = [];
  const note = (error: unknown) => void uncaught.push(error);
  const ends: Array<() => Promise<void>> = [];
  let postgres: Postgres;
  let proxy: BreakingProxy;
  let stack: RealStack;
  let payments: Payments;
  beforeAll(async () => {
    process.on("uncaughtException", note);
    postgres = await startPostgres(folder.path);
    ends.push(() => postgres.stop());
    proxy = await BreakingProxy.start(postgres.port);
    ends.push(() => proxy.stop());
    stack = await startRealStack(proxy.through(postgres.address("postgres")));
    ends.push(() => stack[Symbol.asyncDispose]());
    payments = await paymentsOn(stack);
  });
  afterAll(async () => {
    // The last first; what has not started has nothing to end.
    for (const end of ends.toReversed()) await end();
    folder.remove();
    process.off("uncaughtException", note);
    expect(uncaught).toEqual([]);
  });

  /** Does something again as long as the ledger cannot be used, as a person does who reads the message. */
  const again = async <A>(act: () => Promise<A>): Promise<A> =>
    vi
      .waitFor(async () => {
        try {
          return { value: await act() };
        } catch (error) {
          if (error instanceof LedgerUnavailable) throw error;
          return { error };
        }
      }, WITHIN)
      .then((done) => {
        if ("error" in done) throw done.error;
        return done.value;
      });
  const start = (id: string, account?: "eu") =>
    again(() => startRun(stack.operations, id, payments.planned(id, account), ada));
  const expectPaidOnce = async (...ids: ReadonlyArray<string>): Promise<void> => {
    for (const id of ids) await payments.result(id);
    expect(await Promise.all(ids.map(payments.paid))).toEqual(ids.map(() => 1));
  };

  test.concurrent("pays from both accounts while connections are reset, half closed and silent", async () => {
    const ids = ["reset", "half-closed", "silent"] as const;
    const breaks = { reset: "reset", "half-closed": "halfClose", silent: "hang" } as const;
    for (const id of ids) {
      await start(id);
      await start(`${id}-eu`, "eu");
      proxy.breakAll(breaks[id]);
    }
    await expectPaidOnce(...ids.flatMap((id) => [id, `${id}-eu`]));
  });

  test("pays from both accounts while each commit takes longer than a send may wait for it", async () => {
    proxy.commitDelayMs = 600;
    onTestFinished(() => {
      proxy.commitDelayMs = 0;
    });
    await start("slow");
    await start("slow-eu", "eu");
    await expectPaidOnce("slow", "slow-eu");
  }, 90_000);

  test.concurrent("pays once if the commit before the send, and the response, are lost", async () => {
    await stack.eu.addFault({ kind: "dropped", operation: "createPayout" });
    const broken = proxy.breakAt(/^COMMIT/, "after");
    await start("lost", "eu");
    await broken;
    await expectPaidOnce("lost");
  });

  test.concurrent("an approval and a pause are kept though the server restarts", async () => {
    const { operations } = stack;
    await again(() => pause(operations, undefined, bob));
    const options = { approval: { above: "0.01" } };
    const approved = { beneficiary_id: payments.known, payout: payout("approved"), options };
    await again(() =>
      startRun(operations, "approved", planPayout(approved, defaultAssumptions), ada),
    );
    await start("paused", "eu");
    await postgres.stop();
    await postgres.start();
    // The connection may break after the commit: then the pause has ended already.
    await again(() => resume(operations, undefined, bob)).catch(() => undefined);
    expect(await again(() => operations.ledger.pauses())).toEqual([]);
    const isAsked = async () =>
      expect(await operations.ledger.rowsOf("approved")).toMatchObject([
        { question: { kind: "approval" } },
      ]);
    await vi.waitFor(isAsked, WITHIN);
    expect(await payments.paid("approved")).toBe(0);
    await again(() => approveRead(operations, "approved", bob));
    await expectPaidOnce("approved", "paused");
  });

  test.concurrent("a file, a retry and a recovery, while an administrator ends every connection", async () => {
    // Again while the server restarts, as it does in another test.
    const terminate = () =>
      postgres.sql(
        "postgres",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
      );
    const { operations } = stack;
    const file = join(folder.path, "rows.jsonl");
    const rows = ["r1", "r2", "r3"].map((key) => ({
      key,
      beneficiary_id: payments.known,
      payout: payout(key),
    }));
    await writeFile(file, rows.map((one) => JSON.stringify(one)).join("\n"));
    const checked = await checkBatchFile("payout", file, defaultAssumptions);
    const by = { by: "ada", how: "--by" };
    const planned = await again(() => planFile(operations, checked, by));
    await again(() => payFile(operations, checked, planned, by));
    // Refused as long as the balance is short of it.
    const unfunded = { ...payout("refused"), amount: "200000.00" };
    const input = { beneficiary_id: payments.known, payout: unfunded };
    await again(() => startRun(operations, "refused", planPayout(input, defaultAssumptions), ada));
    await vi.waitFor(terminate, WITHIN);
    await expect(payments.result("refused")).rejects.toThrow();
    await again(() => recover(operations, { ...bob, isDryRun: false }));
    await vi.waitFor(terminate, WITHIN);
    await stack.home.fund("USD", "200000.00");
    await again(() => retryPayment(operations, "refused", bob));
    await expectPaidOnce("refused");
    await payments.result(`${checked.batch}/1`);
    expect(await Promise.all(["r1", "r2", "r3"].map(payments.paid))).toEqual([1, 1, 1]);
  });
});
