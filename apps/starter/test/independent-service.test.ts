import type { Progress } from "@durable-payments/protocol";
import { beneficiary, card, cardholder, options, payout } from "@durable-payments/tools/test-data";
import {
  createLocalEnvironment,
  type IndependentServiceOptions,
  serviceVariables,
  startApp,
  startIndependentService,
} from "@durable-payments/tools/testing";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, onTestFinished, vi } from "vitest";
import { makeStarter } from "./support/starter.ts";

// A reconciliation waits until the lists have caught up and other runs would be seen.

const WANTED = [0, 1, 2, 3];

const temporal = await createLocalEnvironment();
const { use } = await makeStarter();
const folder = await mkdtemp(join(tmpdir(), "journals-"));
afterAll(async () => {
  await temporal.teardown();
  await rm(folder, { recursive: true });
});
const { workflow } = temporal.client;

/** Starts a run, and reports how it ended; `asks` where it waits for a person. */
const run = async (type: string, taskQueue: string, input: object): Promise<string> => {
  const handle = await workflow.start(type, {
    workflowId: randomUUID(),
    taskQueue,
    args: [input],
    memo: { startedBy: "Ada" },
  });
  return await vi.waitFor(
    async () => {
      const { status } = await handle.describe();
      if (status.name !== "RUNNING") return status.name;
      expect((await handle.query<Progress>("progress")).attention).toBeDefined();
      return "asks";
    },
    { timeout: 200_000, interval: 500 },
  );
};

const timesIn = (all: ReadonlyArray<unknown>, one: string): number =>
  all.filter((each) => each === one).length;

// Both number what they make alike: what a run of one account owns explains nothing in the other's lists.
it.each<[string, IndependentServiceOptions]>([
  ["that chooses what the document leaves open", {}],
  [
    "whose clock is slow and whose lists lag, in days and capitals",
    { clockOffsetMs: -600_000, listTimes: "day", listTexts: "capitals", listLagMs: 1000 },
  ],
])("makes nothing twice by a service %s and loses answers", async (_, choices) => {
  const service = await startIndependentService({
    ...choices,
    lose: (operation, number) =>
      ["createPayout", "createCardholder"].includes(operation) && number <= WANTED.length
        ? "after"
        : undefined,
  });
  onTestFinished(() => service.stop());
  const taskQueue = `payments-${randomUUID()}`;
  const worker = await startApp("worker", ["--json"], {
    ...use({ TEMPORAL_ADDRESS: temporal.address }),
    PAYMENTS_TASK_QUEUE: taskQueue,
    ...serviceVariables(service),
    PAYMENTS_JOURNAL: `sqlite:${join(folder, `${taskQueue}.sqlite`)}`,
    PAYMENTS_ASSUMPTIONS: JSON.stringify({ listLagSeconds: 3 }),
  });
  onTestFinished(async () => {
    await worker.kill("SIGKILL");
  });

  const ends = await Promise.all([
    ...WANTED.map((index) =>
      run("payout", taskQueue, {
        beneficiary: { ...beneficiary, nickname: `Supplier ${index}` },
        payout: { ...payout, amount: `${2500 + index}`, payout_reference: `Invoice ${index}` },
        options,
      }),
    ),
    ...WANTED.map((index) =>
      run("onboardCardholder", taskQueue, {
        cardholder: { ...cardholder, first_name: `Ada${index}` },
        card,
        options,
      }),
    ),
  ]);

  expect(ends.filter((end) => end !== "COMPLETED" && end !== "asks")).toEqual([]);
  const { cardholders, payouts } = service.ledger;
  const paid = payouts.map(({ asked }) => asked["payout_reference"]);
  const named = cardholders.map(({ asked }) => asked["first_name"]);
  // Every send was carried out, and its answer lost.
  expect(WANTED.map((index) => timesIn(paid, `Invoice ${index}`))).toEqual([1, 1, 1, 1]);
  expect(WANTED.map((index) => timesIn(named, `Ada${index}`))).toEqual([1, 1, 1, 1]);
});
