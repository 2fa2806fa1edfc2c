import { copyFileSync } from "node:fs";
import { join } from "node:path";
import {
  accessOf,
  createLocalEnvironment,
  makeTestFolder,
  type ReadyProcess,
  runApp,
  startApp,
  type TestFolder,
  workerVariables,
} from "@durable-payments/tools/testing";
import type { payout } from "@durable-payments/workflows";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { exampleFile, payoutInput } from "./support/inputs.ts";
import { runStarter } from "./support/run-starter.ts";

vi.setConfig({ testTimeout: 600_000 });

const PAYOUTS = 20;
const ids = Array.from({ length: PAYOUTS }, (_, index) => `payout-${index}`);

let folder: TestFolder;
let temporal: Awaited<ReturnType<typeof createLocalEnvironment>>;
let simulator: ReadyProcess;
let worker: ReadyProcess | undefined;

const database = () => join(folder.path, "temporal.db");
const backup = () => join(folder.path, "backup.db");

const startTemporal = async (port?: number): Promise<void> => {
  temporal = await createLocalEnvironment({
    server: { dbFilename: database(), ...(port !== undefined && { port }) },
  });
};
/** Stops the server, does something with its files, and starts it where it was. */
const whileStopped = async (work: () => void): Promise<void> => {
  const port = Number(new URL(`http://${temporal.address}`).port);
  await temporal.teardown();
  work();
  await startTemporal(port);
};

beforeEach(async () => {
  folder = makeTestFolder();
  await startTemporal();
  simulator = await startApp("simulator", ["--port=0", "--json", "--settle-after=0"]);
});
afterEach(async () => {
  await worker?.kill("SIGKILL");
  await simulator?.kill();
  await temporal?.teardown();
  folder.remove();
});

const url = (): string => String(simulator.ready["url"]);
const variables = (): NodeJS.ProcessEnv => ({
  ...folder.variables,
  ...workerVariables(temporal, accessOf(simulator)),
  PAYMENTS_REQUEST_TIMEOUT_MS: "2000",
  PAYMENTS_ASSUMPTIONS: JSON.stringify({ listLagSeconds: 1 }),
  PAYMENTS_JOURNAL: `sqlite:${join(folder.path, "journal.sqlite")}`,
});
const startWorker = async (): Promise<void> => {
  worker = await startApp("worker", ["--json"], variables());
};
const starter = (...args: ReadonlyArray<string>) => runStarter(args, variables());

interface Ledger {
  readonly payouts: ReadonlyArray<{ readonly payout_id: string }>;
  readonly beneficiaries: ReadonlyArray<unknown>;
  readonly requests: Readonly<Record<string, number>>;
}
const ledger = async (): Promise<Ledger> =>
  (await (await fetch(`${url()}/_simulator/state`)).json()) as Ledger;

const startPayouts = (started = ids) =>
  Promise.all(
    started.map((workflowId) =>
      temporal.client.workflow.start("payout", {
        workflowId,
        taskQueue: "payments",
        args: [payoutInput],
      }),
    ),
  );
const untilHeldBack = (waited = ids) =>
  vi.waitFor(
    async () => {
      const waiting = await Promise.all(
        waited.map(async (id) => {
          const { raw } = await temporal.client.workflow.getHandle(id).describe();
          return raw.pendingActivities?.[0]?.activityType?.name;
        }),
      );
      expect(waiting).toEqual(waited.map(() => "awaitResume"));
    },
    { timeout: 240_000, interval: 500 },
  );
/** The payout that each run says it has paid. */
const paidBy = async (): Promise<ReadonlyArray<string>> =>
  Promise.all(
    ids.map(async (id) => {
      const result = await temporal.client.workflow.getHandle<typeof payout>(id).result();
      return result.payout_id;
    }),
  );

it("of payouts that were paid after the backup none is paid again when it is put back", async () => {
  await startWorker();
  await starter("pause", "a test of the backup", "--by", "Ada");
  await startPayouts();
  await untilHeldBack();
  await whileStopped(() => copyFileSync(database(), backup()));
  await starter("resume", "--by", "Ada");
  const paid = await paidBy();
  const before = await ledger();
  expect(before.payouts).toHaveLength(PAYOUTS);

  await worker?.kill("SIGKILL");
  await whileStopped(() => copyFileSync(backup(), database()));
  await untilHeldBack();
  await startWorker();
  const recover = await runApp(
    "starter",
    ["recover", "--since=1h", "--by=Ada", "--yes", "--json"],
    variables(),
  );
  expect(JSON.parse(recover.stdout)).toMatchObject({
    isClear: true,
    // The pause of the time of the backup is there again; it is not for this command to end.
    isReleased: false,
    running: expect.arrayContaining(ids) as unknown,
    lost: [],
    unrecorded: [],
  });
  await starter("resume", "--by", "Ada");

  // Each run learns of the very payout that it made before, and ends as it did.
  expect(await paidBy()).toEqual(paid);
  const after = await ledger();
  expect(after.payouts).toHaveLength(PAYOUTS);
  expect(after.beneficiaries).toHaveLength(PAYOUTS);
  expect(after.requests["createPayout"]).toBe(PAYOUTS);
});

it("a run that is cancelled before it learns of it what it had paid says so, and a retry goes on with it", async () => {
  const [id = ""] = ids;
  const handle = () => temporal.client.workflow.getHandle<typeof payout>(id);
  await startWorker();
  await starter("pause", "a test of the backup", "--by", "Ada");
  await startPayouts([id]);
  await untilHeldBack([id]);
  await whileStopped(() => copyFileSync(database(), backup()));
  await starter("resume", "--by", "Ada");
  const paid = await handle().result();

  await worker?.kill("SIGKILL");
  await whileStopped(() => copyFileSync(backup(), database()));
  await startWorker();
  await handle().cancel();
  await expect(handle().result()).rejects.toMatchObject({ cause: { type: "EndedInDoubt" } });
  const inDoubt = [{ step: "createBeneficiary" }, { step: "createPayout", amount: "250.00" }];
  await vi.waitFor(
    async () =>
      expect(await starter("attention")).toMatchObject({
        inDoubt: [{ workflowId: id, inDoubt }],
      }),
    { timeout: 120_000, interval: 500 },
  );
  await starter("resume", "--by", "Ada");
  await starter("runs", "retry", id, "--by", "Ada", "--reason", "it was paid");
  expect(await handle().result()).toMatchObject({ payout_id: paid.payout_id });
  expect((await ledger()).payouts).toHaveLength(1);
});

it("an id that was paid is not paid again when Temporal has forgotten it", async () => {
  await whileStopped(() => copyFileSync(database(), backup()));
  await startWorker();
  await startPayouts();
  const paid = await paidBy();

  await worker?.kill("SIGKILL");
  await whileStopped(() => copyFileSync(backup(), database()));
  await startWorker();
  const { lost, ...found } = (await starter("recover", "--since=1h", "--by=Ada", "--yes")) as {
    readonly lost: ReadonlyArray<{ readonly workflowId: string; readonly reconciliation: string }>;
  };
  expect(found).toMatchObject({ isClear: true, isReleased: true, running: [], unrecorded: [] });
  expect(lost.map(({ reconciliation }) => reconciliation)).toEqual(ids.map(() => "made"));
  expect(lost.map(({ workflowId }) => workflowId).toSorted()).toEqual(ids.toSorted());
  await startPayouts();

  expect(await paidBy()).toEqual(paid);
  expect((await ledger()).payouts).toHaveLength(PAYOUTS);
  expect((await ledger()).requests["createPayout"]).toBe(PAYOUTS);
  expect(
    await starter("payout", "--file", exampleFile("payout"), "--id", ids[0] ?? ""),
  ).toMatchObject({ workflowId: ids[0] });
});
