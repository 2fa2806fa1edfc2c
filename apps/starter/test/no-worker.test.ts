import { holding, like, listWith, payout, tooWide } from "@durable-payments/tools/test-data";
import { createLocalEnvironment } from "@durable-payments/tools/testing";
import { msToTs } from "@temporalio/common/lib/time.js";
import { afterAll, expect, it } from "vitest";
import { jsonOf, makeStarter } from "./support/starter.ts";

// A busy machine takes its time.

const { file, starter, use } = await makeStarter();
const temporal = await createLocalEnvironment();
afterAll(() => temporal.teardown());
use({ TEMPORAL_ADDRESS: temporal.address });

const input = await file("payout.json", { beneficiary_id: "b-1", payout });

it("reports that no worker polls, instead of waiting in silence", async () => {
  const { exitCode, stderr } = await starter(
    ["payout", "--file", input, "--id", "alone", "--wait"],
    { interruptAt: "npm run worker" },
  );
  expect(exitCode).toBe(130);
  expect(stderr).toContain(
    'No worker polls task queue "payments" in namespace "default". Start one: npm run worker',
  );
  expect(stderr).toContain("starter status alone");
});

it("shows by status what Temporal itself knows", async () => {
  await starter(["payout", "--file", input, "--id", "stands"]);
  const [person, program] = await Promise.all([
    starter(["status", "stands"]),
    starter(["status", "stands", "--json"]),
  ]);
  expect(person).toMatchObject({ exitCode: 0, stderr: "" });
  expect(person.stdout).toContain("The run cannot be asked: No worker polls task queue");
  expect(tooWide(person.stdout)).toEqual([]);
  expect(program.exitCode).toBe(0);
  expect(jsonOf(program)).toMatchObject({
    workflowId: "stands",
    state: "running",
    type: "payout",
    stage: "starting",
    stepsFrom: "history",
    steps: [],
    noProgress: holding("npm run worker"),
  });
  const { raw } = await temporal.client.workflow.getHandle("stands").describe();
  expect(raw.workflowExecutionInfo?.taskQueue).toBe("payments");
});

it("finds by the doctor that no worker polls", async () => {
  const { exitCode, stdout } = await starter(["doctor"]);
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/^FAILED +worker, workflow tasks +none polls task queue payments$/m);
  expect(stdout).toMatch(
    /^FAILED +worker, activity tasks +none polls task queue payments\/service,\s+payments\/batch, payments\/fallback-polling$/m,
  );
  expect(stdout).toMatch(/^FAILED +client settings/m);
  expect(stdout).toContain("npm run worker");
});

it("names the namespace that is missing, and how to make it", async () => {
  const env = { TEMPORAL_NAMESPACE: "nowhere" };
  const [started, doctor] = await Promise.all([
    starter(["payout", "--file", input, "--json"], { env }),
    starter(["doctor", "--json"], { env }),
  ]);
  expect([started.exitCode, doctor.exitCode]).toEqual([3, 3]);
  expect(jsonOf(started)).toMatchObject({
    error: { type: "NamespaceNotFound", message: holding('"nowhere"') },
  });
  expect(jsonOf(doctor)).toMatchObject({
    checks: listWith({
      name: "namespace",
      status: "failed",
      detail: "there is no namespace nowhere",
      remedy: `temporal operator namespace create --address ${temporal.address} --namespace nowhere`,
    }),
  });
});

it("names the search attributes that are missing, and how to make them", async () => {
  const namespace = "bare";
  await temporal.connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs("1 day"),
  });
  const env = { TEMPORAL_NAMESPACE: namespace };
  await expect
    .poll(async () => jsonOf(await starter(["doctor", "--json"], { env })), { timeout: 120_000 })
    .toMatchObject({
      checks: listWith({
        name: "search attributes",
        status: "failed",
        detail:
          "PaymentStage, PaymentIds, PaymentCurrency, PaymentAwaits, PaymentBatch, PaymentAccount, PaymentInDoubt not registered",
        remedy: "starter doctor --fix",
      }),
    });
  const started = await starter(["payout", "--file", input, "--json"], { env });
  expect(started.exitCode).toBe(3);
  expect(jsonOf(started)).toMatchObject({
    error: {
      type: "TemporalError",
      message: like(/lacks search attributes.*starter doctor --fix/),
    },
  });
});
