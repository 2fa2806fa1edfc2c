import { PAYMENT_ACCOUNT, PAYMENT_AWAITS } from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import {
  createLocalEnvironment,
  makeTestFolder,
  type ReadyProcess,
  runApp,
  startApp,
  type TestFolder,
} from "@durable-payments/tools/testing";
import { defaultPayloadConverter } from "@temporalio/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { exampleFile } from "./support/inputs.ts";

let folder: TestFolder;
let temporal: Awaited<ReturnType<typeof createLocalEnvironment>>;
let simulator: ReadyProcess;
let worker: ReadyProcess;

beforeEach(async () => {
  folder = makeTestFolder();
  temporal = await createLocalEnvironment();
  simulator = await startApp("simulator", ["--port=0", "--json", "--settle-after=3"]);
});
afterEach(async () => {
  await worker?.kill();
  await simulator?.kill();
  await temporal?.teardown();
  folder.remove();
});

it("a run whose memo does not decode keeps the tracker from no other run", async () => {
  const [baseUrl, clientId] = [String(simulator.ready["url"]), String(simulator.ready["clientId"])];
  const variables = {
    ...folder.variables,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: "default",
    PAYMENTS_TASK_QUEUE: "payments",
    PAYMENTS_BASE_URL: baseUrl,
    PAYMENTS_CLIENT_ID: clientId,
    PAYMENTS_API_KEY: String(simulator.ready["apiKey"]),
  };
  const { workflow, workflowService } = temporal.client;
  await workflowService.startWorkflowExecution({
    namespace: "default",
    requestId: "planted",
    workflowId: "planted",
    workflowType: { name: "payout" },
    taskQueue: { name: "nobody" },
    memo: { fields: { note: { metadata: { encoding: Buffer.from("binary/encrypted") } } } },
    searchAttributes: {
      indexedFields: {
        [PAYMENT_ACCOUNT.name]: defaultPayloadConverter.toPayload(
          accountHash({ baseUrl, clientId }),
        ),
        [PAYMENT_AWAITS.name]: defaultPayloadConverter.toPayload(["payout:none"]),
      },
    },
  });
  const planted = `${PAYMENT_AWAITS.name} = "payout:none"`;
  await vi.waitFor(async () => expect((await workflow.count(planted)).count).toBe(1), {
    timeout: 120_000,
  });
  worker = await startApp("worker", ["--json"], variables);
  const file = exampleFile("payout");
  const { exitCode } = await runApp(
    "starter",
    ["payout", "--file", file, "--id", "paid"],
    variables,
  );
  expect(exitCode).toBe(0);
  await vi.waitFor(
    async () => expect((await workflow.getHandle("paid").describe()).status.name).toBe("COMPLETED"),
    { timeout: 120_000, interval: 200 },
  );
});
