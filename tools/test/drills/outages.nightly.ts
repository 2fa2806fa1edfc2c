// Drills of outages: a part of the installation is missing, and the runbook's section about it shows what is seen then.
// They run in this order, because what is killed stays so.
import { copyFile, rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { appArguments, awaitReadyLine } from "../../src/processes.ts";
import { type Drill, NAME, startDrill } from "../support/drill.ts";

const TIMEOUT_MS = 400_000;
vi.setConfig({ testTimeout: TIMEOUT_MS, hookTimeout: TIMEOUT_MS });

let drill: Drill;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ drill, end } = await startDrill("docs/runbook.md"));
});

afterAll(async () => {
  await end();
});

it.each([
  ["The ledger cannot be reached", "PAYMENTS_LEDGER=postgres://127.0.0.1:9/x"],
  ["The service refuses the API key", "PAYMENTS_API_KEY=wrong"],
  ["The service is down", "PAYMENTS_BASE_URL=http://127.0.0.1:9"],
  ["Temporal is unreachable", "TEMPORAL_ADDRESS=127.0.0.1:9"],
])("%s: doctor says so, and fails", async (heading, variable) => {
  const { code, text } = await drill.run(`${variable} durable-payments doctor`);
  expect(code).toBe(1);
  expect(drill.differs(heading, text)).toBeUndefined();
});

it("The worker restarts again and again: its last line names the cause", async () => {
  const taken = new URL(drill.stack.variables.PAYMENTS_BASE_URL).host;
  // A worker that does not end is not restarted.
  const line = `PAYMENTS_HEALTH_ADDRESS=${taken} timeout 120 npm run --silent worker`;
  const { code, text } = await drill.run(line);
  expect(code).toBe(1);
  expect(text.trim().split("\n").at(-1)).toContain("cannot listen at");
});

it("The service is down: afterwards, failed runs are listed", async () => {
  const block = drill.block("The service is down", 0);
  expect(await drill.follow(block, { NAME })).toContain("0 failed runs can be retried.");
});

it("The ledger was restored: doctor says that the ledger lacks entries", async () => {
  const file = drill.stack.variables.PAYMENTS_LEDGER.replace("sqlite:", "");
  const copy = `${file}.copy`;
  await drill.succeed(`durable-payments ledger backup ${copy}`);
  await drill.pay("drill-later");
  await drill.untilStatus("drill-later", "succeeded");
  const seen = /up to [1-9]/;
  await vi.waitFor(
    async () => expect(await drill.succeed("durable-payments doctor")).toMatch(seen),
    60_000,
  );
  // Killed, so that nothing of it ends in order.
  await drill.stack.parts.worker.kill("SIGKILL");
  for (const part of ["", "-wal", "-shm"]) await rm(`${file}${part}`, { force: true });
  await copyFile(copy, file);
  await drill.untilShows("The ledger was restored", "durable-payments doctor");
  expect((await drill.run("durable-payments doctor")).code).toBe(1);
});

it("No worker, and a tracker that is late: doctor names both", async () => {
  await drill.untilShows("Nothing moves: no worker", "durable-payments doctor");
  await drill.untilShows("The tracker is late", "durable-payments doctor");
  expect((await drill.run("durable-payments doctor")).code).toBe(1);
});

it("The ledger's database failed over: recover says what it would do, and then allows sends", async () => {
  const { commands } = drill.block("The ledger's database failed over", 0);
  const [wouldDo = "", recover = "", doctor = ""] = commands;
  await awaitReadyLine(drill.stack.spawn("worker-2", appArguments("worker", ["--json"])));
  await vi.waitFor(
    async () => expect((await drill.run(doctor)).text).toContain("sends are stopped"),
    60_000,
  );
  expect(await drill.succeed(wouldDo)).toContain("Nothing was changed.");
  await drill.succeed(recover, { NAME });
  await vi.waitFor(() => drill.succeed(doctor), 120_000);
});

it("Temporal is unreachable: the brake works", async () => {
  await drill.stack.parts.temporal.kill();
  const paused = await drill.obey("Temporal is unreachable", /pause/, { NAME });
  expect(paused).toContain("All sends are paused");
  await drill.succeed("durable-payments inbox");
});
