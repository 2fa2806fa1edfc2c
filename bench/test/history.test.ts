import type { Workflows } from "@durable-payments/protocol";
import { createClient } from "@durable-payments/client";
import { PaymentsPlugin } from "@durable-payments/plugin";
import { startSimulator } from "@durable-payments/simulator";
import { createLocalEnvironment } from "@durable-payments/tools/testing";
import { Client } from "@temporalio/client";
import { Worker } from "@temporalio/worker";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { beneficiary, onboardInput, payoutInput } from "../src/workflows/inputs.ts";

const DAY_SECONDS = 24 * 60 * 60;
const taskQueue = "history";

/** Real worker, server and simulator; a check takes a moment, and a payout settles when told, so that every run waits. */
const startStack = async () => {
  const [environment, simulator] = await Promise.all([
    createLocalEnvironment(),
    startSimulator({ settleAfter: "Infinity", verifyAfter: "1 second" }),
  ]);
  const { apiKey, clientId, url: baseUrl } = simulator;
  const service = createClient({ baseUrl, clientId, apiKey });
  const { beneficiary_id } = await service.createBeneficiary(beneficiary);
  await service.close();
  const plugin = new PaymentsPlugin({ baseUrl, clientId, apiKey, ledger: "memory" });
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue,
    plugins: [plugin],
  });
  const running = worker.run();
  const { workflow } = new Client({ connection: environment.connection, plugins: [plugin] });
  return {
    simulator,
    beneficiary_id,
    start: <Type extends "payout" | "onboardCardholder">(
      type: Type,
      workflowId: string,
      input: Parameters<Workflows[Type]>[0],
    ) =>
      workflow.start<(given: typeof input) => Promise<unknown>>(type, {
        taskQueue,
        workflowId,
        args: [input],
      }),
    stop: async () => {
      worker.shutdown();
      await running;
      await simulator.stop();
      await environment.teardown();
    },
  };
};

type Handle = Awaited<ReturnType<Awaited<ReturnType<typeof startStack>>["start"]>>;

let stack: Awaited<ReturnType<typeof startStack>>;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

const eventsOf = async (handle: Handle) => (await handle.fetchHistory()).events ?? [];

const waits = new Set(["awaitPayout", "awaitVerification", "awaitFunds"]);

/** The attempts of each activity that a worker has polled. */
const attemptsOf = (events: Awaited<ReturnType<typeof eventsOf>>): number[] => {
  const typeOf = new Map(
    events.map(({ activityTaskScheduledEventAttributes: scheduled, eventId }) => [
      String(eventId),
      scheduled?.activityType?.name ?? "",
    ]),
  );
  return events.flatMap(({ activityTaskStartedEventAttributes: started }) => {
    if (!started) return [];
    const attempt = started.attempt ?? 1;
    // The tracker completes a wait before its next attempt is polled; the server counts that one.
    const isWait = waits.has(typeOf.get(String(started.scheduledEventId)) ?? "");
    return [isWait && attempt > 1 ? attempt - 1 : attempt];
  });
};

/** What Temporal Cloud bills: the start, each attempt of an activity, timers and signals. */
const costOf = async (handle: Handle) => {
  const events = await eventsOf(handle);
  const attempts = attemptsOf(events);
  const billed = events.filter(
    (event) =>
      event.timerStartedEventAttributes ||
      event.workflowExecutionSignaledEventAttributes ||
      event.upsertWorkflowSearchAttributesEventAttributes,
  );
  return {
    events: events.length,
    actions: 1 + billed.length + attempts.reduce((sum, attempt) => sum + attempt, 0),
    mostAttempts: Math.max(...attempts),
  };
};

const seconds = (duration: { readonly seconds?: unknown } | null | undefined): number =>
  Number(duration?.seconds ?? 0);

/** Settles the payout of a run once the run waits for it. Returns the seconds until the wait would look by itself. */
const settled = async (handle: Handle): Promise<number> => {
  for (;;) {
    const { raw } = await handle.describe();
    const wait = raw.pendingActivities?.find(
      ({ activityType }) => activityType?.name === "awaitPayout",
    );
    const payout = (await stack.simulator.state()).payouts.at(-1);
    // Before its first attempt has ended, the interval is that of the retry policy.
    if (wait?.lastFailure && wait.currentRetryInterval && payout) {
      await stack.simulator.setPayoutStatus(payout.payout_id, "completed");
      await handle.result();
      return seconds(wait.currentRetryInterval);
    }
    await sleep(20);
  }
};

it("an onboarding has at most 30 events and 6 billable actions", async () => {
  const handle = await stack.start("onboardCardholder", "onboarding", onboardInput("Onboarded"));
  await handle.result();
  const { actions, events } = await costOf(handle);
  expect(events).toBeLessThanOrEqual(30);
  expect(actions).toBeLessThanOrEqual(6);
});

it("a payout to a new beneficiary creates it by one activity more", async () => {
  const { payout } = payoutInput("", "new");
  const handle = await stack.start("payout", "new", { beneficiary, payout });
  await settled(handle);
  const { actions, events } = await costOf(handle);
  expect(events).toBeLessThanOrEqual(23);
  expect(actions).toBeLessThanOrEqual(4);
});

it("a payout that waits has at most 17 events and 3 actions, and waits a day for 4", async () => {
  const handle = await stack.start("payout", "plain", payoutInput(stack.beneficiary_id, "plain"));
  const ownLook = await settled(handle);
  const { actions, events } = await costOf(handle);
  expect(events).toBeLessThanOrEqual(17);
  expect(actions).toBeLessThanOrEqual(3);
  expect(DAY_SECONDS / ownLook).toBeLessThanOrEqual(4);
});

it("a lost answer adds no event, and at most 5 attempts", async () => {
  await stack.simulator.addFault({ kind: "dropped", operation: "createPayout" });
  const handle = await stack.start("payout", "lost", payoutInput(stack.beneficiary_id, "lost"));
  await settled(handle);
  const { events, mostAttempts } = await costOf(handle);
  expect(events).toBeLessThanOrEqual(17);
  expect(mostAttempts).toBeLessThanOrEqual(6);
});

it("a person is asked for at most 4 actions a day", async () => {
  await stack.simulator.addFault({ kind: "dropped", operation: "createBeneficiary" });
  const { payout } = payoutInput("", "asked");
  const handle = await stack.start("payout", "asked", {
    // An account that nobody has paid yet.
    beneficiary: { ...beneficiary, iban: "FR1420041010050500013M02606" },
    payout,
    options: { onLostBeneficiary: "ask" },
  });
  const waitOf = async () =>
    (await eventsOf(handle))
      .map((event) => event.timerStartedEventAttributes?.startToFireTimeout)
      .find((wait) => wait !== null && wait !== undefined);
  let wait = await waitOf();
  while (wait === undefined || wait === null) {
    await sleep(100);
    wait = await waitOf();
  }
  // A timer, and an activity after it.
  expect((DAY_SECONDS / seconds(wait)) * 2).toBeLessThanOrEqual(4);
  await handle.terminate();
});
