import { readFileSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { makeRig } from "./support/rig.ts";

// It is three processes, of which two bundle workflows: a busy machine takes its time.

const WAITING = { timeout: 120_000, interval: 100 };

const { pay, simulator, start } = await makeRig({ settleAfter: Infinity });

const requests = async (operation: string) => (await simulator.state()).requests[operation] ?? 0;

it("the worker of the docs has 15 lines at most", () => {
  const text = readFileSync(new URL("./examples/worker.ts", import.meta.url), "utf8");
  expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(15);
});

it("the worker of the docs finishes what it has begun on SIGTERM, ends by itself, and another one goes on", async () => {
  await simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 1_500 });
  const worker = start("../examples/worker.ts");
  const handle = await pay("invoice-1");
  await vi.waitFor(async () => expect(await requests("createPayout")).toBe(1), WAITING);
  expect(await worker.kill("SIGTERM")).toEqual({ code: 0, signal: undefined });
  // Of its three companions, two have activities alone.
  const warnings = worker
    .stderr()
    .split("\n")
    .filter((line) => /\[(WARN|ERROR)\]/.test(line));
  expect(warnings.filter((line) => !line.includes("No workflows registered"))).toEqual([]);
  const { events } = await handle.fetchHistory();
  const completed = events?.filter((event) => event.activityTaskCompletedEventAttributes);
  expect(completed?.length).toBeGreaterThanOrEqual(2);

  const next = start("../examples/worker.ts");
  const { payouts } = await simulator.state();
  expect(payouts).toHaveLength(1);
  await vi.waitFor(async () => expect(await requests("listPayouts")).toBeGreaterThan(0), WAITING);
  await simulator.setPayoutStatus(payouts[0]?.payout_id ?? "", "completed");
  // The tracker tells it: by itself it would look again in an hour.
  expect(await handle.result()).toEqual({
    payout_id: payouts[0]?.payout_id,
    payout_status: "completed",
  });
  expect((await simulator.state()).payouts).toHaveLength(1);
  expect(await requests("createPayout")).toBe(1);

  // The client of the docs, against the same worker.
  const client = start("../examples/pay.ts");
  await vi.waitFor(async () => expect((await simulator.state()).payouts).toHaveLength(2), WAITING);
  const { payout_id = "" } =
    (await simulator.state()).payouts.find(({ payout_id: id }) => id !== payouts[0]?.payout_id) ??
    {};
  await simulator.setPayoutStatus(payout_id, "completed");
  expect(await client.exited).toEqual({ code: 0, signal: undefined });
  expect(client.stdout()).toContain("payout_status: 'completed'");
  expect(await next.kill("SIGINT")).toEqual({ code: 0, signal: undefined });
});
