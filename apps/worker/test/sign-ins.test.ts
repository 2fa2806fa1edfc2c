import type { ReadyProcess } from "@durable-payments/tools/testing";
import { expect, it, vi } from "vitest";
import { payoutInput } from "./support/inputs.ts";
import { makeRig } from "./support/rig.ts";

const PROCESSES = 5;
const BUDGET = 7;
const PATIENCE = { timeout: 120_000, interval: 200 };

const { simulator, startWorker, temporal } = await makeRig();

const startWorkers = (): Promise<ReadonlyArray<ReadyProcess>> =>
  Promise.all(
    Array.from({ length: PROCESSES }, () =>
      startWorker({
        PAYMENTS_FLEET_SIGN_INS_PER_MINUTE: String(BUDGET),
        PAYMENTS_LOG_LEVEL: "ERROR",
      }),
    ),
  );

/** Most sign-ins in any 60 seconds. */
const mostInAMinute = (times: ReadonlyArray<number>): number =>
  Math.max(
    0,
    ...times.map((since) => times.filter((at) => at >= since && at < since + 60_000).length),
  );

const signIns = async () => (await simulator.state()).sign_ins.map((at) => Number(new Date(at)));

/** Starts payouts, and waits until one of them learns that the budget is used up. */
const payUntilRefused = async (name: string) => {
  const handles = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      temporal.client.workflow.start("payout", {
        workflowId: `${name}-${index}`,
        taskQueue: "payments",
        args: [payoutInput],
      }),
    ),
  );
  const failures = async () => {
    const runs = await Promise.all(handles.map((handle) => handle.describe()));
    return runs.flatMap(({ raw }) =>
      (raw.pendingActivities ?? []).map(({ lastFailure }) => lastFailure?.message ?? ""),
    );
  };
  await vi.waitFor(async () => {
    expect((await failures()).join()).toContain("all workers together make");
  }, PATIENCE);
};

it(
  "five workers, whose tokens are rejected and which crash, stay within one budget of sign-ins",
  { timeout: 400_000 },
  async () => {
    // Every request ends all sessions, those of the other workers too.
    await simulator.addFault({ kind: "token-expired", probability: 1 });
    const first = await startWorkers();
    await payUntilRefused("before");
    await vi.waitFor(
      async () => expect((await signIns()).length).toBeGreaterThanOrEqual(BUDGET),
      PATIENCE,
    );
    // What a process knows of the sign-ins that it made is lost with it.
    await Promise.all(first.map((worker) => worker.kill("SIGKILL")));
    await startWorkers();
    await payUntilRefused("after");
    expect(mostInAMinute(await signIns())).toBeLessThanOrEqual(BUDGET);
  },
);
