import { expect, it } from "vitest";
import { timelineOf, type Event, failureOf as viewOf } from "../../src/facts/history.ts";
import { stepsOf } from "../../src/rules/standing.ts";
import { nothing, row } from "../support/rows.ts";
import { failureOf, payloadOf, timestamp } from "../support/temporal-stub.ts";

const at = (eventId: number, event: Event): Event => ({
  // The generated types know 64-bit numbers as Long alone.
  eventId: eventId as never,
  eventTime: timestamp(eventId * 1000),
  ...event,
});

const scheduled = (name: string): Event => ({
  activityTaskScheduledEventAttributes: { activityType: { name } },
});

const events: ReadonlyArray<Event> = [
  at(5, {
    ...scheduled("reserveGoods"),
    userMetadata: { summary: payloadOf("Goods of order 17") },
  }),
  at(6, { activityTaskCompletedEventAttributes: { scheduledEventId: 5 as never } }),
  at(7, scheduled("createPayout")),
  at(8, {
    activityTaskFailedEventAttributes: {
      scheduledEventId: 7 as never,
      failure: failureOf("Account DE89370400440532013000 is closed.", "Refused"),
    },
  }),
  at(9, { timerStartedEventAttributes: { timerId: "1", startToFireTimeout: timestamp(60_000) } }),
  at(10, { workflowExecutionSignaledEventAttributes: { signalName: "stop" } }),
  at(11, { workflowExecutionSignaledEventAttributes: { signalName: "durable-payments/nudge" } }),
  at(12, {
    workflowTaskFailedEventAttributes: { failure: failureOf("x is not a function", "TypeError") },
  }),
];

it("reads each thing of a history once, with its end", () => {
  expect(timelineOf(events)).toMatchObject([
    {
      kind: "activity",
      name: "reserveGoods",
      summary: "Goods of order 17",
      outcome: "done",
      endedAt: 6_000,
    },
    { kind: "activity", name: "createPayout", outcome: "failed" },
    { kind: "timer", outcome: "open", until: 69_000 },
    { kind: "signal", name: "stop" },
    { kind: "signal", name: "durable-payments/nudge" },
    { kind: "task", outcome: "failed", message: "x is not a function" },
  ]);
});

it("shows no account number of a failure", () => {
  expect(JSON.stringify(timelineOf(events))).not.toContain("0532013000");
});

it("shows a write as the ledger has it, and not once more as an activity", () => {
  const rows = [row({ state: "refused", message: "closed" })];
  const steps = stepsOf({ ...nothing, rows, items: timelineOf(events) });
  expect(steps.map(({ kind, name, state }) => `${kind} ${name}: ${state}`)).toEqual([
    "write createPayout: refused",
    "activity reserveGoods: done",
    "timer sleep: open",
    "signal stop: done",
    "task workflow code: failed",
  ]);
});

it("reads a failure that does not decode as one", () => {
  const encrypted = {
    metadata: { encoding: Buffer.from("binary/encrypted") },
    data: Buffer.from("?"),
  };
  const failure = {
    message: "m",
    applicationFailureInfo: { type: "T", details: { payloads: [encrypted] } },
  };
  expect(viewOf(failure)).toMatchObject({ type: "Unreadable" });
});
