import { startSimulator } from "@durable-payments/simulator";
import { CancelledFailure } from "@temporalio/common";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { activitiesFor, activitiesOver, environment } from "./support/activities.ts";
import { payout } from "./support/bodies.ts";
import { type RawService, startRawService } from "./support/raw-service.ts";

let service: RawService;
let made: ReturnType<typeof activitiesFor>;
beforeEach(async () => {
  service = await startRawService(() => "hold");
  made = activitiesFor(service.url, { maxAttempts: 4 });
});
afterEach(async () => {
  vi.useRealTimers();
  await made.close();
  await service.stop();
});

const thrownBy = (running: Promise<unknown>): Promise<unknown> =>
  running.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("a cancelled activity", () => {
  it.each([
    ["a read", "retrievePayout", { payout_id: "payout-1" }],
    ["a payment", "createPayout", payout],
    [
      "a wait",
      "awaitPayoutEnd",
      { payout_id: "payout-1", minIntervalMs: 1, maxIntervalMs: 1, until: Date.now() + 60_000 },
    ],
  ] as const)(
    "closes the connection of %s at once and ends as cancelled",
    async (_, name, input) => {
      const activity = made.activities[name] as (given: unknown) => Promise<unknown>;
      const temporal = environment();
      const ended = thrownBy(temporal.run(activity, input));
      const { closed } = await service.asked;
      temporal.cancel();
      await closed;
      expect(await ended).toBeInstanceOf(CancelledFailure);
      expect(service.received).toHaveLength(1);
    },
  );

  it("is heard between two sends, too", async () => {
    await made.close();
    await service.stop();
    service = await startRawService(() => ({ status: 503, body: "" }));
    made = activitiesFor(service.url, {
      maxAttempts: 9,
      retryBaseMs: 3_600_000,
      maxRetryWaitMs: 3_600_000,
    });
    const temporal = environment();
    const ended = thrownBy(temporal.run(made.activities.ping, {}));
    await service.asked;
    // The answer has to be read before the wait begins; it does not matter when exactly.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    temporal.cancel();
    expect(await ended).toBeInstanceOf(CancelledFailure);
  });

  it("that was cancelled before it began sends nothing", async () => {
    const temporal = environment();
    temporal.cancel();
    expect(await thrownBy(temporal.run(made.activities.createPayout, payout))).toBeInstanceOf(
      CancelledFailure,
    );
    expect(service.received).toEqual([]);
  });

  it("keeps what was answered before the cancellation came", async () => {
    const simulator = await startSimulator();
    const over = activitiesOver(simulator);
    try {
      const temporal = environment();
      expect(await temporal.run(over.activities.ping, {})).toEqual({ message: "pong" });
      temporal.cancel();
    } finally {
      await over.close();
      await simulator.stop();
    }
  });
});

describe("heartbeats", () => {
  it("are sent while a request takes long, and end with it", async () => {
    // Only the heart beats by the fake clock: connections and timeouts stay real.
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const temporal = environment();
    let beats = 0;
    temporal.on("heartbeat", () => {
      beats += 1;
    });
    const ended = thrownBy(temporal.run(made.activities.createPayout, payout));
    await service.asked;
    vi.advanceTimersByTime(15_000);
    // The workflows' heartbeat timeout is 15 seconds; one lost heartbeat must not matter.
    expect(beats).toBeGreaterThanOrEqual(4);
    temporal.cancel();
    await ended;
    const atTheEnd = beats;
    vi.advanceTimersByTime(60_000);
    expect(beats).toBe(atTheEnd);
  });
});
