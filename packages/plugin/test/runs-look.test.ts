import type { Client } from "@temporalio/client";
import { Context, Metric } from "effect";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { lookAtRuns } from "../src/metrics/runs-look.ts";

const HOUR_MS = 3_600_000;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const gauge = (name: string, labels = {}): unknown => {
  const found = Metric.snapshotUnsafe(Context.empty()).find(
    ({ attributes, id }) =>
      id === name && JSON.stringify(attributes ?? {}) === JSON.stringify(labels),
  );
  return found?.type === "Gauge" ? found.state.value : undefined;
};

const asking = (workflowId: string, hours: number) => ({
  workflowId,
  runId: workflowId,
  startTime: new Date(Date.now() - hours * HOUR_MS),
});

/** A Temporal with two runs that ask: one since an hour, and one that does not answer and began two hours ago. */
const clientOf = (count: (query: string) => Promise<{ count: number }>): Client => {
  const client: unknown = {
    withDeadline: (_deadline: number, ask: () => unknown) => ask(),
    workflow: {
      count,
      async *list() {
        yield asking("one", 5);
        yield asking("hangs", 2);
      },
      getHandle: (id: string) => ({
        describe: async () => ({ status: { name: "RUNNING" }, type: "pauseSends" }),
        query: async () => {
          if (id === "hangs") throw new Error("no worker answers");
          const since = new Date(Date.now() - HOUR_MS).toISOString();
          const step = { name: "awaitApproval", status: "waiting", since };
          return { stage: "awaitApproval", steps: [step], ids: {}, shown: {}, notes: [] };
        },
      }),
    },
  };
  return client as Client;
};

it("counts runs once a minute, and says how long the oldest question is open", async () => {
  const count = vi.fn<(query: string) => Promise<{ count: number }>>(async () => ({ count: 3 }));
  const look = lookAtRuns(clientOf(count), "payments");
  await look();
  await vi.advanceTimersByTimeAsync(0);
  expect(gauge("payments_runs", { type: "payout", stage: "waits" })).toBe(3);
  expect(gauge("payments_runs_in_doubt", { standing: "ended" })).toBe(3);
  expect(gauge("payments_sends_paused")).toBe(1);
  expect(gauge("payments_human_task_oldest_seconds")).toBe(7200);
  const asked = count.mock.calls.length;
  await look();
  expect(count).toHaveBeenCalledTimes(asked);
  count.mockRejectedValue(new Error("visibility does not answer"));
  await vi.advanceTimersByTimeAsync(60_000);
  await look();
  await vi.advanceTimersByTimeAsync(0);
  expect(gauge("payments_runs", { type: "payout", stage: "waits" })).toBeNaN();
  expect(gauge("payments_runs_in_doubt", { standing: "ended" })).toBeNaN();
});
