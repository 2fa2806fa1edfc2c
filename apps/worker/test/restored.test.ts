import { openLedger } from "@durable-payments/ledger";
import type { PayoutResult, Workflows } from "@durable-payments/protocol";
import { VOUCHER } from "@durable-payments/protocol/calls";
import { startSimulator } from "@durable-payments/simulator";
import {
  createLocalEnvironment,
  makeTestFolder,
  runApp,
  startApp,
  workerVariables,
} from "@durable-payments/tools/testing";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, onTestFinished, vi } from "vitest";
import { payoutInput } from "./support/inputs.ts";
import { settingsFile } from "./support/rig.ts";

vi.setConfig({ testTimeout: 180_000 });

const folder = makeTestFolder();
const simulator = await startSimulator({ settleAfter: 0 });
afterAll(async () => {
  await simulator.stop();
  folder.remove();
});

const payoutIds = async () => (await simulator.state()).payouts.map(({ payout_id }) => payout_id);

/** Replaces a database by a copy, while nobody has it open. */
const putBack = (file: string, copy: string) => {
  for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
  copyFileSync(copy, file);
};

/** A Temporal server with its database in a file, which can be stopped and started again, and workers with a ledger. */
const makeStack = async (name: string) => {
  const database = join(folder.path, `${name}.temporal.sqlite`);
  const ledgerFile = join(folder.path, `${name}.ledger.sqlite`);
  const server = { dbFilename: database };
  let temporal: TestWorkflowEnvironment = await createLocalEnvironment(server);
  const variables = () => ({
    ...folder.variables,
    ...workerVariables(temporal, simulator),
    PAYMENTS_LEDGER: `sqlite:${ledgerFile}`,
    ...settingsFile(folder.path, { assumptions: { listLagSeconds: 0, clockSkewSeconds: 0 } }),
  });
  let worker = await startApp("worker", ["--json"], variables());
  const stopWorker = () => worker.kill("SIGKILL");
  onTestFinished(async () => {
    await stopWorker();
    await temporal.teardown();
  });
  /** As `startPayment` starts it, which vouches; or as anybody else. */
  const start = (workflowId: string, { input = payoutInput, isVouched = true } = {}) =>
    temporal.client.workflow.start<Workflows["payout"]>("payout", {
      workflowId,
      taskQueue: "payments",
      args: [input],
      ...(isVouched && { memo: { [VOUCHER]: { workflowId, at: Date.now(), is: "first" } } }),
    });
  const starter = (...args: ReadonlyArray<string>) =>
    runApp("starter", [...args, "--by", "ada", "--reason", "fraud"], variables());
  return {
    database,
    ledgerFile,
    stopWorker,
    startWorker: async () => {
      worker = await startApp("worker", ["--json"], variables());
    },
    stopTemporal: () => temporal.teardown(),
    startTemporal: async () => {
      temporal = await createLocalEnvironment(server);
    },
    client: () => temporal.client,
    start,
    pay: async (workflowId: string, isVouched = true): Promise<PayoutResult> => {
      const handle = await start(workflowId, { isVouched });
      return await handle.result();
    },
    starter,
    recover: async (): Promise<unknown> => {
      const { exitCode, stdout } = await starter("recover", "--yes", "--json");
      expect(exitCode).toBe(0);
      return JSON.parse(stdout);
    },
  };
};

/** Makes a copy of a ledger as `durable-payments ledger backup` does. */
const backUp = async (ledgerFile: string): Promise<string> => {
  const copy = `${ledgerFile}.copy`;
  const ledger = await openLedger(`sqlite:${ledgerFile}`);
  await ledger.backup(copy);
  await ledger.close();
  return copy;
};

it("a ledger that was put back to an earlier copy pays nothing twice after recover", async () => {
  const { ledgerFile, pay, recover, startWorker, stopWorker } = await makeStack("ledger");
  await pay("before");
  const copy = await backUp(ledgerFile);
  const after = await pay("after");
  const paid = await payoutIds();

  await stopWorker();
  putBack(ledgerFile, copy);
  const restored = await openLedger(`sqlite:${ledgerFile}`);
  expect(await restored.rowsOf("after")).toEqual([]);
  await restored.close();
  await startWorker();
  // Also a run that nobody starts again is known as what it was.
  expect(await recover()).toMatchObject({ taken: { runs: ["after"], others: [] } });
  const known = await openLedger(`sqlite:${ledgerFile}`);
  expect(await known.rowsOf("after")).toContainEqual(
    expect.objectContaining({ step: "createPayout", state: "done", madeId: after.payout_id }),
  );
  await known.close();
  const again = await pay("after", false);
  expect(again.payout_id).toBe(after.payout_id);
  await pay("before", false);
  expect(await payoutIds()).toEqual(paid);
});

it("what a person rejected is not paid after the ledger was put back to a copy from before", async () => {
  const stack = await makeStack("rejected");
  const { client, ledgerFile, recover, start, startWorker, starter, stopWorker } = stack;
  const paid = await payoutIds();
  const input = { ...payoutInput, options: { approval: { above: "0.01" } } };
  const handle = await start("rejected", { input });
  const ledger = await openLedger(`sqlite:${ledgerFile}`);
  const isAsked = async () =>
    expect(await ledger.rowsOf("rejected")).toContainEqual(
      expect.objectContaining({ question: expect.objectContaining({ kind: "approval" }) }),
    );
  await vi.waitFor(isAsked, { timeout: 20_000, interval: 50 });
  await ledger.close();
  const copy = await backUp(ledgerFile);
  expect(await starter("reject", "rejected")).toMatchObject({ exitCode: 0 });
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: "Rejected" } });

  await stopWorker();
  putBack(ledgerFile, copy);
  await startWorker();
  expect(await recover()).toMatchObject({ ends: ["rejected"] });
  expect(await starter("retry", "rejected", "--yes")).toMatchObject({ exitCode: 6 });
  await starter("retry", "--all-failed", "--yes");
  const again = await start("rejected", { isVouched: false });
  await expect(again.result()).rejects.toMatchObject({ cause: { type: "Rejected" } });
  const { events } = await handle.fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  const { runId } = await client().workflowService.resetWorkflowExecution({
    namespace: "default",
    workflowExecution: { workflowId: "rejected", runId: handle.firstExecutionRunId },
    workflowTaskFinishEventId: first?.eventId ?? null,
    reason: "reset by hand",
    requestId: "reset",
  });
  const reset = client().workflow.getHandle("rejected", runId);
  await expect(reset.result()).rejects.toMatchObject({ cause: { type: "Rejected" } });
  expect(await payoutIds()).toEqual(paid);
});

it("a database of Temporal that was put back to an earlier copy pays nothing twice", async () => {
  const stack = await makeStack("temporal");
  const { database, pay, recover, startTemporal, startWorker, stopTemporal, stopWorker } = stack;
  await pay("known");
  await stopWorker();
  await stopTemporal();
  const copy = `${database}.copy`;
  copyFileSync(database, copy);
  await startTemporal();
  await startWorker();
  const forgotten = await pay("forgotten");
  const paid = await payoutIds();

  await stopWorker();
  await stopTemporal();
  putBack(database, copy);
  await startTemporal();
  await startWorker();
  // It was paid: nothing is left to do, and starting it again does no harm.
  expect(await recover()).toMatchObject({ unfinished: [], files: [] });
  const again = await pay("forgotten");
  expect(again.payout_id).toBe(forgotten.payout_id);
  await pay("known", false);
  expect(await payoutIds()).toEqual(paid);
});
