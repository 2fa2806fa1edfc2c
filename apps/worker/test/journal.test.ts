import { like } from "@durable-payments/tools/test-data";
import { runApp } from "@durable-payments/tools/testing";
import { type PayoutResult, type Progress, serviceQueue } from "@durable-payments/protocol";
import { Worker } from "@temporalio/worker";
import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, it, vi } from "vitest";
import { payoutInput } from "./support/inputs.ts";
import { makeRig } from "./support/rig.ts";

const { folder, simulator, startWorker, temporal, variables } = await makeRig();

it("warns where another host polls, which does not have its file", async () => {
  const another = await Worker.create({
    connection: temporal.nativeConnection,
    taskQueue: serviceQueue("payments"),
    identity: "77@another-host",
    activities: { other: async () => undefined },
  });
  await another.runUntil(async () => {
    const worker = await startWorker({
      PAYMENTS_JOURNAL: `sqlite:${folder.path}/journal.sqlite`,
    });
    const words =
      /Workers of other hosts poll, too \(another-host\), and the journal of sends is a file/;
    await vi.waitFor(() => expect(worker.stderr()).toMatch(words), { timeout: 120_000 });
    await worker.kill();
  });
});

it("while the journal cannot be written nothing is sent; then it is, once", async () => {
  const file = `${folder.path}/busy.sqlite`;
  const worker = await startWorker({ PAYMENTS_JOURNAL: `sqlite:${file}` });
  const another = new DatabaseSync(file);
  another.exec("BEGIN IMMEDIATE");
  const handle = await temporal.client.workflow.start("payout", {
    workflowId: "waits-for-the-journal",
    taskQueue: "payments",
    args: [payoutInput],
  });
  const why = async () => (await handle.query<Progress>("progress")).steps.at(-1)?.note ?? "";
  await vi.waitFor(async () => expect(await why()).toContain("cannot be written"), {
    timeout: 120_000,
    interval: 500,
  });
  expect((await simulator.state()).requests).not.toHaveProperty("createBeneficiary");
  another.exec("ROLLBACK");
  another.close();
  await vi.waitFor(async () => expect((await simulator.state()).payouts).toHaveLength(1), {
    timeout: 120_000,
  });
  expect((await simulator.state()).beneficiaries).toHaveLength(1);
  await handle.terminate();
  expect(worker.stderr()).toMatch(/cannot be written \(database is locked\)/);
  await worker.kill();
});

it("a journal that was lost is noticed by worker and doctor, and a lost answer is not paid again", async () => {
  const file = `${folder.path}/lost.sqlite`;
  const settings = { PAYMENTS_JOURNAL: `sqlite:${file}` };
  const first = await startWorker(settings);
  const before = (await simulator.state()).payouts.length;
  await simulator.addFault({ kind: "dropped", operation: "createPayout" });
  const handle = await temporal.client.workflow.start("payout", {
    workflowId: "journal-was-lost",
    taskQueue: "payments",
    args: [payoutInput],
  });
  await vi.waitFor(async () => expect((await simulator.state()).payouts).toHaveLength(before + 1), {
    timeout: 120_000,
  });
  await first.kill("SIGKILL");
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}${suffix}`);

  const next = await startWorker(settings);
  await vi.waitFor(
    () =>
      expect(next.stderr()).toMatch(
        /\[ERROR\] The journal of sends, the file .*lost\.sqlite.* has nothing of the run [-a-z]+, which has sent: it has lost its records/,
      ),
    { timeout: 120_000 },
  );
  // What Temporal hands to the worker that was killed, nobody answers.
  await vi.waitFor(
    async () => {
      const doctor = await runApp("starter", ["doctor", "--json"], variables(settings));
      expect(doctor).toMatchObject({
        exitCode: 0,
        stdout: like(
          /"name":"journal of sends","status":"warning","detail":"[^"]*lost its records/,
        ),
      });
    },
    { timeout: 120_000 },
  );
  await handle.result();
  expect((await simulator.state()).payouts).toHaveLength(before + 1);
  await next.kill();
});

it("a payment is remembered when the service's address is written in another way, and Temporal has forgotten it", async () => {
  const journal = `sqlite:${folder.path}/addresses.sqlite`;
  const { client } = temporal;
  const pay = async (url: string): Promise<string> => {
    const worker = await startWorker({ PAYMENTS_JOURNAL: journal, PAYMENTS_BASE_URL: url });
    const handle = await client.workflow.start("payout", {
      workflowId: "paid-once",
      taskQueue: "payments",
      args: [payoutInput],
    });
    const { payout_id } = (await handle.result()) as PayoutResult;
    await client.workflowService.deleteWorkflowExecution({
      namespace: "default",
      workflowExecution: { workflowId: handle.workflowId },
    });
    await worker.kill();
    return payout_id;
  };
  const before = (await simulator.state()).payouts.length;
  const first = await pay(simulator.url);
  expect(await pay(simulator.url.replace("127.0.0.1", "localhost"))).toBe(first);
  expect((await simulator.state()).payouts).toHaveLength(before + 1);
});
