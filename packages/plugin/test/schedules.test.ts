import { type Ledger, openLedger } from "@durable-payments/ledger";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { createLocalEnvironment } from "@durable-payments/tools/testing";
import { Client, type ScheduleHandle } from "@temporalio/client";
import { Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { Polling } from "../src/index.ts";
import { paymentsPluginIn } from "../src/payments-plugin.ts";
import type { PayoutInput } from "@durable-payments/protocol";
import type { dispatch, payByChild, paySalary, paySupplier, Salary } from "./support/workflows.ts";
import { payment } from "./support/payment.ts";

// A Schedule may fire again for the same month: by hand, by a backfill, by a second Schedule. Each action has a workflow id
// of its own, so only the id of a child or the key of a write says that the salary is paid already.

type SalaryWorkflow = typeof dispatch | typeof payByChild | typeof paySalary;

let temporal: Awaited<ReturnType<typeof createLocalEnvironment>>;
let service: Simulator;
let ledger: Ledger;
let client: Client;
let worker: Worker;
let running: Promise<void>;
let beneficiary_id: string;

beforeAll(async () => {
  [temporal, service, ledger] = await Promise.all([
    createLocalEnvironment(),
    startSimulator({ settleAfter: 0 }),
    openLedger("memory"),
  ]);
  const { apiKey, clientId, url: baseUrl } = service;
  const polling = Promise.withResolvers<Polling>();
  const plugin = paymentsPluginIn(
    { environment: {}, skipsTime: false, ledger },
    {
      baseUrl,
      clientId,
      apiKey,
      // Nothing vouches for these runs, so each first send waits for the list.
      requestTimeoutMs: 1_000,
      assumptions: { listLagSeconds: 0, clockSkewSeconds: 0 },
      onReady: polling.resolve,
    },
  );
  worker = await Worker.create({
    connection: temporal.nativeConnection,
    taskQueue: "payments",
    workflowsPath: fileURLToPath(new URL("support/workflows.ts", import.meta.url)),
    plugins: [plugin],
  });
  running = worker.run();
  await polling.promise;
  client = new Client({ connection: temporal.connection });
  const supplier = { workflowId: "supplier", taskQueue: "payments", args: [null] } as const;
  const { workflow } = new Client({ connection: temporal.connection, plugins: [plugin] });
  await workflow.execute<typeof paySupplier>("paySupplier", supplier);
  const [known] = Object.values((await service.state()).beneficiaries);
  beneficiary_id = known?.beneficiary_id ?? "";
}, 120_000);

afterAll(async () => {
  worker.shutdown();
  await running;
  await ledger.close();
  await Promise.all([temporal.teardown(), service.stop()]);
}, 30_000);

const salaryOf = (of: string, hasKey: boolean): Salary => ({ of, beneficiary_id, hasKey });

/** Creates a Schedule that fires only when it is told to. */
const schedule = (type: string, input: PayoutInput | Salary): Promise<ScheduleHandle> =>
  client.schedule.create({
    scheduleId: `payroll-${randomUUID()}`,
    spec: { intervals: [{ every: "1 hour" }] },
    state: { paused: true },
    policies: { overlap: "ALLOW_ALL" },
    action: { type: "startWorkflow", workflowType: type, args: [input], taskQueue: "payments" },
  });

/** The runs that a Schedule has started, once there are as many. */
const runsOf = async (handle: ScheduleHandle, count: number) => {
  const ids = async () =>
    (await handle.describe()).info.recentActions.map(({ action }) => action.workflow.workflowId);
  const started = await vi.waitUntil(
    async () => {
      const found = await ids();
      return found.length === count && found;
    },
    { timeout: 20_000, interval: 100 },
  );
  return started.map((id) => client.workflow.getHandle<SalaryWorkflow>(id));
};

const resultsOf = async (handle: ScheduleHandle, count: number) =>
  Promise.all((await runsOf(handle, count)).map((run) => run.result()));

/** Payouts that the service has for a salary. */
const paid = async (of: string): Promise<number> => {
  const { payouts } = await service.state();
  return Object.values(payouts).filter((one) => one.payout_reference === `Salary ${of}`).length;
};

it.concurrent.each([
  ["payByChild", "children", false],
  ["paySalary", "a key", true],
  ["dispatch", "children with random ids, and a key", true],
])(
  "a Schedule of %s (%s) that is triggered by hand, and again, pays once",
  async (type, _, hasKey) => {
    const of = `2026-11/${type}`;
    const handle = await schedule(type, salaryOf(of, hasKey));
    await handle.trigger();
    const [first] = await resultsOf(handle, 1);
    await handle.trigger();
    expect(await resultsOf(handle, 2)).toEqual([first, first]);
    expect(await paid(of)).toBe(1);
  },
  120_000,
);

it.concurrent("a Schedule that is backfilled twice pays once", async () => {
  const of = "2026-10/backfilled";
  const handle = await schedule("paySalary", salaryOf(of, true));
  const [start, end] = [new Date("2026-10-31T00:30:00Z"), new Date("2026-10-31T02:30:00Z")];
  await handle.backfill({ start, end, overlap: "ALLOW_ALL" });
  const [first] = await resultsOf(handle, 2);
  await handle.backfill({ start, end, overlap: "ALLOW_ALL" });
  expect(new Set(await resultsOf(handle, 4))).toEqual(new Set([first]));
  expect(await paid(of)).toBe(1);
}, 120_000);

it.concurrent("two Schedules at the same time pay once, one by a step and one by the workflow payout", async () => {
  const of = "2026-11/two-schedules";
  const payout = { ...payment, payout_reference: `Salary ${of}` };
  const handles = await Promise.all([
    schedule("paySalary", salaryOf(of, true)),
    schedule("payout", { beneficiary_id, payout, key: `salary/${of}` }),
  ]);
  await Promise.all(handles.map((handle) => handle.trigger()));
  const [one, other] = await Promise.all(handles.map((handle) => resultsOf(handle, 1)));
  expect(other).toMatchObject([{ payout_id: one?.[0] }]);
  expect(await paid(of)).toBe(1);
}, 120_000);

it.concurrent("starts with random ids and one key pay once; another request under it is refused, and says whose it is", async () => {
  const of = "2026-11/dispatched";
  const start = (salary: Salary) =>
    client.workflow.start<typeof paySalary>("paySalary", {
      workflowId: randomUUID(),
      taskQueue: "payments",
      args: [salary],
    });
  const runs = await Promise.all([1, 2, 3].map(() => start(salaryOf(of, true))));
  expect(new Set(await Promise.all(runs.map((run) => run.result()))).size).toBe(1);
  const other = await start({ ...salaryOf(of, true), beneficiary_id: `${beneficiary_id}x` });
  const [row] = await ledger.rowsOf(`payout/salary/${of}`);
  await expect(other.result()).rejects.toMatchObject({
    cause: { type: "AlreadyCarriedOut", message: expect.stringContaining(row?.ownerId ?? "?") },
  });
  expect(await paid(of)).toBe(1);
}, 120_000);

it.concurrent.each([
  ["a run of a Schedule", "paySalary", "", /^The Schedule payroll-/],
  [
    "a child named after it",
    "payByOwnChild",
    "/2026-09/payByOwnChild",
    /^The child workflow payroll-/,
  ],
])(
  "without a key the workflow task of %s fails, its message names the option, and nothing is sent",
  async (_, type, child, why) => {
    const of = `2026-09/${type}`;
    const handle = await schedule(type, salaryOf(of, false));
    await handle.trigger();
    const [run] = await runsOf(handle, 1);
    const paying = client.workflow.getHandle(`${run?.workflowId}${child}`);
    const failure = async () => {
      // A child may not have started yet.
      const { events = [] } = (await paying.fetchHistory().catch(() => undefined)) ?? {};
      return events
        ?.map((event) => event.workflowTaskFailedEventAttributes?.failure?.message)
        .find((message) => message !== undefined);
    };
    const message = await vi.waitUntil(failure, { timeout: 20_000, interval: 100 });
    expect(message).toMatch(why);
    expect(message).toContain('createPayout(…, { key: "…" })');
    await run?.terminate();
    await paying.terminate().catch(() => undefined);
    expect(await paid(of)).toBe(0);
    expect(await ledger.rowsOf(paying.workflowId)).toEqual([]);
  },
  60_000,
);
