import { join } from "node:path";
import {
  accessOf,
  createLocalEnvironment,
  makeTestFolder,
  type ReadyProcess,
  startApp,
  type TestFolder,
  workerVariables,
} from "@durable-payments/tools/testing";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { exampleFile } from "./support/inputs.ts";
import { runStarter } from "./support/run-starter.ts";

/** The part of the simulator's ledger that is read. */
interface Ledger {
  readonly payouts: ReadonlyArray<{ readonly payout_id: string; readonly payout_status: string }>;
  readonly cards: ReadonlyArray<{ readonly card_id: string }>;
  readonly requests: Readonly<Record<string, number>>;
}

let folder: TestFolder;
let temporal: Awaited<ReturnType<typeof createLocalEnvironment>>;
let simulator: ReadyProcess;
const workers: Array<ReadyProcess> = [];

const startTemporal = async (port?: number): Promise<void> => {
  const dbFilename = join(folder.path, "temporal.db");
  temporal = await createLocalEnvironment({ server: { dbFilename, ...(port && { port }) } });
};

beforeEach(async () => {
  folder = makeTestFolder();
  await startTemporal();
  simulator = await startApp("simulator", [
    "--port=0",
    "--json",
    "--verify-after=1",
    "--settle-after=never",
  ]);
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill("SIGKILL")));
  await simulator?.kill();
  await temporal?.teardown();
  folder.remove();
});

const url = (): string => String(simulator.ready["url"]);

const variables = (): NodeJS.ProcessEnv => ({
  ...folder.variables,
  ...workerVariables(temporal, accessOf(simulator)),
});

const startWorker = async (): Promise<ReadyProcess> => {
  const worker = await startApp("worker", ["--json"], variables());
  workers.push(worker);
  return worker;
};

const starter = (...args: ReadonlyArray<string>) => runStarter(args, variables());

const ledger = async (): Promise<Ledger> =>
  (await (await fetch(`${url()}/_simulator/state`)).json()) as Ledger;

const control = (path: string, body: unknown) =>
  fetch(`${url()}/_simulator/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const untilRequested = (operation: string, times: number) =>
  vi.waitFor(async () => expect((await ledger()).requests[operation]).toBe(times), {
    timeout: 120_000,
  });

it("onboards and pays out by real processes, through a killed worker and a restarted Temporal", async () => {
  const first = await startWorker();
  const file = exampleFile("onboard");
  const onboarding = await starter("onboard", "--file", file, "--id", "onboarding-1", "--wait");
  const [card] = (await ledger()).cards;
  expect(onboarding).toMatchObject({
    workflowId: "onboarding-1",
    state: "completed",
    result: { card_id: card?.card_id, card_status: "pending", card_limit: "100.00" },
  });

  const pay = (id: string, ...more: ReadonlyArray<string>) =>
    starter("payout", "--file", exampleFile("payout"), "--id", id, ...more);
  await pay("waiting");
  await vi.waitFor(
    async () => expect((await ledger()).requests["retrievePayout"]).toBeGreaterThan(0),
    { timeout: 120_000 },
  );
  // The worker dies while one payout is awaited and another is sent, carried out, not answered.
  await control("faults", { kind: "slow", operation: "createPayout", milliseconds: 10_000 });
  await pay("sending");
  await untilRequested("createPayout", 2);
  await first.kill("SIGKILL");
  const port = Number(new URL(`http://${temporal.address}`).port);
  await temporal.teardown();
  await startTemporal(port);
  await startWorker();

  const made = (await ledger()).payouts;
  expect(made).toHaveLength(2);
  for (const { payout_id } of made) {
    await control(`payouts/${payout_id}/status`, { status: "completed" });
  }
  // The same ids report the runs that exist.
  for (const [id, { payout_id }] of [
    ["waiting", made[0]!] as const,
    ["sending", made[1]!] as const,
  ]) {
    expect(await pay(id, "--wait")).toMatchObject({
      workflowId: id,
      state: "completed",
      result: { payout_id, payout_status: "completed", amount: "250.00", currency: "EUR" },
    });
  }
  const { payouts, requests } = await ledger();
  expect(payouts).toHaveLength(2);
  expect(requests["createPayout"]).toBe(2);
  // What ended before the restart is still known.
  expect(await starter("status", "onboarding-1")).toMatchObject({ state: "completed" });
});
