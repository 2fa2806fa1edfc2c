import {
  batchQueue,
  fallbackPollingQueue,
  type Pause,
  PAUSE_TYPE,
  pauseId,
  serviceQueue,
} from "@durable-payments/protocol";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { ApplicationFailureCategory, CancelledFailure } from "@temporalio/common";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { makeTemporalPauseReader } from "../src/pause.ts";
import { PAUSED } from "../src/index.ts";
import { activitiesFor, environment, failureOf, run } from "./support/activities.ts";
import { card, payout } from "./support/bodies.ts";
import { type RawService, startRawService, success } from "./support/raw-service.ts";

const pause: Pause = { why: "a bad file", by: "Ada", since: "2026-11-20T12:00:00.000Z" };

let service: RawService;
let made: ReturnType<typeof activitiesFor>;
let readPause: () => Promise<Pause | undefined>;
beforeEach(async () => {
  service = await startRawService(() => success());
  made = activitiesFor(service.url, {}, { readPause: () => readPause() });
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await made.close();
  await service.stop();
});

describe("while sends are paused", () => {
  beforeEach(() => {
    readPause = async () => pause;
  });

  it.each([
    ["createPayout", payout, true],
    ["createCard", card, true],
    ["cancelCard", { card_id: "card-1" }, false],
  ] as const)("%s is not sent", async (name, input, nonRetryable) => {
    // Each activity gets its own input.
    const activity = made.activities[name] as (given: unknown) => Promise<unknown>;
    const failure = await failureOf(run(activity, input));
    expect(failure).toMatchObject({
      type: PAUSED,
      message: `Sends are paused since ${pause.since} by Ada: a bad file`,
      nonRetryable,
      nextRetryDelay: 10_000,
      category: ApplicationFailureCategory.BENIGN,
    });
    expect(service.received).toEqual([]);
  });

  it("reading goes on", async () => {
    await failureOf(run(made.activities.retrieveBalance, { currency: "USD" }));
    expect(service.received.map(({ path }) => path)).toEqual(["/balances/retrieve/USD"]);
  });

  it("awaitResume asks again and again, and ends with the pause", async () => {
    expect(await failureOf(run(made.activities.awaitResume, undefined))).toMatchObject({
      type: PAUSED,
      nonRetryable: false,
      nextRetryDelay: 10_000,
    });
    readPause = async () => undefined;
    expect(await run(made.activities.awaitResume, undefined)).toBeUndefined();
  });
});

describe("where it is not known whether sends are paused", () => {
  beforeEach(() => {
    readPause = async () => {
      throw new Error("the Temporal server does not answer");
    };
  });

  it.each([
    ["createPayout", payout, true],
    ["cancelCard", { card_id: "card-1" }, false],
  ] as const)("%s is not sent, and says so", async (name, input, nonRetryable) => {
    const activity = made.activities[name] as (given: unknown) => Promise<unknown>;
    const failure = await failureOf(run(activity, input));
    // Not "unknown": the workflow may send it again without looking it up.
    expect(failure).toMatchObject({ type: "Unavailable", nonRetryable });
    expect(failure.message).toContain("was not sent");
    expect(service.received).toEqual([]);
  });
});

it("a send that is cancelled meanwhile ends as cancelled", async () => {
  const temporal = environment();
  readPause = async () => {
    temporal.cancel();
    throw new Error("The request was aborted");
  };
  await expect(temporal.run(made.activities.createPayout, payout)).rejects.toBeInstanceOf(
    CancelledFailure,
  );
  expect(service.received).toEqual([]);
});

describe("the pause of a task queue", () => {
  const clientThat = (describePause: (id: string) => Promise<unknown>) => {
    const withAbortSignal = <A>(_: AbortSignal, work: () => Promise<A>) => work();
    const getHandle = (id: string) => ({ describe: () => describePause(id) });
    // Of a client, only the description of the pause is asked for.
    const withDeadline = <A>(_: number, work: () => Promise<A>) => work();
    return { workflow: { getHandle }, withAbortSignal, withDeadline } as unknown as Client;
  };
  const running = {
    type: PAUSE_TYPE,
    status: { name: "RUNNING" },
    memo: { why: "a bad file", by: "Ada" },
    startTime: new Date(pause.since),
  };
  const send = (client: Client, activities = made.activities, taskQueue = "payments") =>
    run(activities.cancelCard, { card_id: "c" }, { taskQueue }, { client });

  beforeEach(async () => {
    await made.close();
    made = activitiesFor(service.url, {}, { readPause: makeTemporalPauseReader() });
  });

  it("is the workflow of that name, while it runs", async () => {
    const asked: Array<string> = [];
    const client = clientThat(async (id) => {
      asked.push(id);
      return running;
    });
    expect(await failureOf(send(client))).toMatchObject({
      type: PAUSED,
      message: `Sends are paused since ${pause.since} by Ada: a bad file`,
    });
    expect(asked).toEqual([pauseId("payments")]);
    expect(service.received).toEqual([]);
  });

  it.each([serviceQueue("payments"), batchQueue("payments"), fallbackPollingQueue("payments")])(
    "is that of the base queue, also on %s",
    async (taskQueue) => {
      const asked: Array<string> = [];
      const client = clientThat(async (id) => {
        asked.push(id);
        return running;
      });
      expect(await failureOf(send(client, made.activities, taskQueue))).toMatchObject({
        type: PAUSED,
      });
      expect(asked).toEqual([pauseId("payments")]);
    },
  );

  it.each([
    ["is something else of its id", async () => ({ ...running, type: "payout" })],
    ["has ended", async () => ({ ...running, status: { name: "TERMINATED" } })],
    [
      "never was",
      async () => {
        throw new WorkflowNotFoundError("not found", pauseId("payments"), undefined);
      },
    ],
  ])("lets sends pass where it %s", async (_, describePause) => {
    await send(clientThat(describePause));
    expect(service.received).toHaveLength(1);
  });

  it("is asked for again within a second, though the clock was set back", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const now = performance.now.bind(performance);
    let later = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now() + later);
    let isPaused = false;
    let asked = 0;
    const client = clientThat(async () => {
      asked += 1;
      return isPaused ? running : { ...running, status: { name: "TERMINATED" } };
    });
    await send(client);
    await send(client);
    expect(asked).toBe(1);
    isPaused = true;
    later = 1_000;
    vi.setSystemTime(Date.now() - 3_600_000);
    expect(await failureOf(send(client))).toMatchObject({ type: PAUSED });
  });

  it("is asked for again where its answer took long", async () => {
    const now = performance.now.bind(performance);
    let later = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now() + later);
    let asked = 0;
    const client = clientThat(async () => {
      asked += 1;
      later += 600;
      return { ...running, status: { name: "TERMINATED" } };
    });
    await send(client);
    await send(client);
    // What was said may have been true as early as it was asked.
    expect(asked).toBeGreaterThan(1);
  });
});
