import {
  beneficiary,
  card,
  cardholder,
  holding,
  ID,
  options,
  payout,
  tooWide,
} from "@durable-payments/tools/test-data";
import { expect, it, vi } from "vitest";
import { makeRepairRig } from "./support/repair-rig.ts";
import { jsonOf } from "./support/starter.ts";

// Each call is a process, and a batch is many runs: a busy machine takes its time.
vi.setConfig({ testTimeout: 300_000 });

const { ended, found, replaceWorker, simulator, start, starter, temporal } = await makeRepairRig();

const COUNT = 50;
const PATIENCE = { timeout: 120_000, interval: 200 };
const ids = Array.from({ length: COUNT }, (_, index) => `customer-${index}`);

const retryAll = (...more: ReadonlyArray<string>) =>
  starter([
    "runs",
    "retry",
    "--failed",
    "--type",
    "onboardCardholder",
    "--reason",
    "the service was down",
    ...more,
  ]);

const countFailed = async (): Promise<number> =>
  Number(jsonOf(await retryAll("--dry-run", "--json"))["count"]);

it(`of ${COUNT} failed runs is retried while its starter and the worker are killed`, async () => {
  await simulator.addFault({ kind: "refusal-in-200", operation: "createCard", times: COUNT });
  await Promise.all(
    ids.map((id, index) =>
      start("onboardCardholder", id, {
        cardholder: { ...cardholder, last_name: `Customer ${index}` },
        card,
        options,
      }),
    ),
  );
  for (const id of ids) expect(await ended(id)).toBe("FAILED");
  // One has undone what it did, and cannot go on as the others do.
  await simulator.addFault({ kind: "refusal-in-200", operation: "createCard" });
  await start("onboardCardholder", "undone", {
    cardholder: { ...cardholder, last_name: "Undone" },
    card,
    options: { ...options, onFailure: "compensate" },
  });
  expect(await ended("undone")).toBe("FAILED");
  await found('WorkflowType = "onboardCardholder" AND ExecutionStatus = "Failed"', COUNT + 1);

  const unasked = await retryAll("--json");
  expect(unasked.exitCode).toBe(2);
  expect(jsonOf(unasked)).toMatchObject({ error: { message: holding("51 failed runs would be") } });
  const planned = await retryAll("--dry-run");
  expect(planned.stderr).toMatch(
    /^Found 51 failed runs in namespace "default" of 127.0.0.1:\d+:$/m,
  );
  expect(planned.stderr).toContain("types   51 onboardCardholder");
  expect(planned.stderr).toMatch(/^51 onboardCardholder failed at issueCard/m);
  expect(planned.stderr).toMatch(/^ {4}createCard was refused/m);
  expect(tooWide(planned.stderr)).toEqual([]);
  const unexplained = await starter(["runs", "retry", "--failed", "--yes"]);
  expect(unexplained.exitCode).toBe(2);
  expect(unexplained.stderr).toContain("Give the reason, by --reason");

  // Interrupted on the way, and the worker killed meanwhile: the same command does the rest.
  const interrupted = retryAll("--yes", "--rate", "10", "--json");
  const first = starter(
    ["runs", "retry", "--failed", "--reason", "twice at once", "--yes", "--rate", "10"],
    { interruptAt: "Found" },
  );
  await vi.waitFor(async () => {
    expect((await simulator.state()).cards.length).toBeGreaterThan(5);
  }, PATIENCE);
  await replaceWorker();
  expect((await first).exitCode).toBe(130);
  const report = jsonOf(await interrupted);
  expect(report).toMatchObject({ failed: 0 });
  const again = await retryAll("--yes", "--rate", "50");
  expect([0, 1]).toContain(again.exitCode);
  expect(tooWide(again.stdout)).toEqual([]);

  for (const id of ids) expect(await ended(id)).toBe("COMPLETED");
  const { cardholders, cards } = await simulator.state();
  expect(cards).toHaveLength(COUNT);
  expect(new Set(cards.map(({ card_holder_id }) => card_holder_id)).size).toBe(COUNT);
  expect(cardholders.filter(({ removed }) => !removed)).toHaveLength(COUNT);

  // Each was retried once, whoever asked; the one that cannot be shows why.
  await vi.waitFor(async () => expect(await countFailed()).toBe(1), PATIENCE);
  const rest = await retryAll("--yes", "--json");
  expect(rest.exitCode).toBe(1);
  expect(jsonOf(rest)).toEqual({
    count: 1,
    planned: 0,
    retried: 0,
    endedByPerson: 0,
    notRetried: 1,
    failed: 0,
    runs: [
      {
        workflowId: "undone",
        status: "notRetried",
        runId: null,
        from: null,
        reason: holding("--from createCardholder"),
      },
    ],
  });
  const anew = await retryAll("--yes", "--from", "createCardholder", "--json");
  expect(jsonOf(anew)).toMatchObject({
    retried: 1,
    runs: [{ workflowId: "undone", status: "retried", runId: ID, from: "createCardholder" }],
  });
  expect(await ended("undone")).toBe("COMPLETED");
  const nothing = await vi.waitFor(async () => {
    const call = await retryAll("--yes");
    expect(call.stdout).toBe("0 runs: nothing to do\n");
    return call;
  }, PATIENCE);
  expect(nothing).toMatchObject({ exitCode: 0, stderr: "Found 0 failed runs.\n" });
  const { count } = await temporal.client.workflow.count('WorkflowType = "retryInstruction"');
  expect(count).toBeGreaterThanOrEqual(COUNT + 1);
});

it("says how retried runs have ended, and leaves out what the service has ended", async () => {
  await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout", times: 2 });
  // The simulator fails a payout with such a reference.
  for (const [id, payout_reference] of [
    ["fails", "FAIL it"],
    ["is paid", "Invoice"],
  ] as const) {
    await start("payout", id, {
      beneficiary: { ...beneficiary, nickname: `Supplier ${id}` },
      payout: { ...payout, payout_reference },
      options,
    });
    expect(await ended(id)).toBe("FAILED");
  }
  await found('WorkflowType = "payout" AND ExecutionStatus = "Failed"', 2);
  const many = ["runs", "retry", "--failed", "--type", "payout", "--reason", "down", "--yes"];
  const waited = await starter([...many, "--wait", "--json"]);
  const report = jsonOf(waited);
  expect(report).toMatchObject({ retried: 2, notRetried: 0 });
  const runs = (report["runs"] as ReadonlyArray<Readonly<Record<string, unknown>>>).toSorted(
    (one, other) => (String(one["workflowId"]) < String(other["workflowId"]) ? -1 : 1),
  );
  expect(runs).toMatchObject([
    { workflowId: "fails", status: "retried", state: "failed", failure: { type: "PayoutFailed" } },
    { workflowId: "is paid", status: "retried", state: "completed" },
  ]);
  expect(waited.exitCode).toBe(1);

  await found('WorkflowType = "payout" AND ExecutionStatus = "Failed" AND WorkflowId = "fails"', 2);
  const again = await starter(many);
  expect(again.exitCode).toBe(1);
  expect(again.stdout.replaceAll(/\s+/g, " ")).toMatch(
    /fails notRetried The service says that its payout failed: .*1 runs: 1 cannot be retried so/,
  );
  const dry = await starter([...many.slice(0, -1), "--dry-run", "--json"]);
  expect(jsonOf(dry)).toMatchObject({ planned: 0, notRetried: 1 });
});

it("waits for one run by watch, and says so", async () => {
  const one = await starter(["runs", "retry", "a", "--wait"]);
  expect(one.exitCode).toBe(2);
  expect(one.stderr).toContain("starter watch a");
});
