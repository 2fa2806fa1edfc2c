import { defineOperation } from "@durable-payments/activities";
import { openLedger } from "@durable-payments/ledger";
import { sharedBundle } from "@durable-payments/tools/testing";
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from "@temporalio/worker";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";
import { bundleOfWorker, bundler } from "../src/bundle.ts";
import { CannotStart } from "../src/index.ts";
import { prepareWorker } from "../src/payments-worker.ts";

/*
 * An activity that no worker has is retried forever: the run stands still, and nothing says why. So a worker compares the
 * operations that its workflows call with those that it has, before it takes any work.
 */

let workflowBundle: WorkflowBundle;
beforeAll(async () => {
  workflowBundle = await sharedBundle("plugin-own-operations", () =>
    bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL("support/reserving.ts", import.meta.url)),
      plugins: [bundler],
      logger: new DefaultLogger("ERROR"),
    }),
  );
}, 60_000);

const bookCourier = defineOperation<object>({
  repeat: "none",
  send: async () => ({ id: "1" }),
});
const starting = (operations: object) =>
  bundleOfWorker({ taskQueue: "payments", workflowBundle }, bundler, operations);

it("does not start if its workflows call an operation that it does not have", async () => {
  const started = starting({ bookCurier: bookCourier });
  await expect(started).rejects.toThrow(CannotStart);
  await expect(started).rejects.toThrow(
    "The workflows call ownOperation for bookCourier, but the operations of this worker are: bookCurier. Correct the name, or give the operation to new PaymentsPlugin, or in a test to usePaymentsTest or createPaymentsTest: { operations: { bookCourier } }.",
  );
  await expect(starting({})).rejects.toThrow("the operations of this worker are: none.");
});

it("starts if it has them, and others", async () => {
  await expect(starting({ bookCourier, other: bookCourier })).resolves.toBe(workflowBundle);
});

it("does not start if an operation has the name of an activity: its function would be called in its place", async () => {
  const ledger = await openLedger("memory");
  const settings = {
    baseUrl: "http://localhost:1",
    clientId: "c",
    apiKey: "k",
    operations: { bookCourier, createPayout: bookCourier, awaitPayout: bookCourier },
  };
  const process = { environment: {}, skipsTime: true, ledger };
  const worker = { taskQueue: "payments", workflowBundle };
  const prepared = prepareWorker(worker, settings, process, bundler);
  await expect(prepared).rejects.toThrow(CannotStart);
  await expect(prepared).rejects.toThrow(
    "The payments' own activities already have the names of these operations: createPayout, awaitPayout. Rename them.",
  );
  await ledger.close();
});
