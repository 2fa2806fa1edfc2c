import { WORKFLOW } from "@durable-payments/protocol";
import { defaultDataConverter, defaultPayloadConverter } from "@temporalio/common";
import { msToTs } from "@temporalio/common/lib/time.js";
import { expect, it } from "vitest";
import type { Temporal } from "../../src/connection/temporal.ts";
import { checkNotifications } from "../../src/doctor/notification-checks.ts";
import { checkTracker } from "../../src/doctor/worker-checks.ts";

const MINUTE_MS = 60_000;

/** A text that holds this one. */
const holding = (text: string): unknown => expect.stringContaining(text);

const ago = (ms: number) => Date.now() - ms;

/** Temporal as far as these checks need it: a run, its activity's last heartbeat, or no activity. */
const temporalWith = ({ details, begunAt = ago(0) }: { details?: unknown; begunAt?: number }) => {
  const beat = msToTs(Date.now());
  const payloads = [defaultPayloadConverter.toPayload(details)];
  const activity = { attempt: 1, lastHeartbeatTime: beat, heartbeatDetails: { payloads } };
  const described = {
    status: { name: "RUNNING" },
    type: WORKFLOW.tracker,
    startTime: new Date(begunAt),
    raw: { pendingActivities: details === undefined ? [] : [activity] },
  };
  const getHandle = () => ({ describe: async () => described });
  // Of a connection, only this is asked for.
  return {
    client: { workflow: { getHandle }, options: { loadedDataConverter: defaultDataConverter } },
    settings: { taskQueue: "payments" },
  } as unknown as Temporal;
};

const failing = { since: ago(MINUTE_MS), why: "Unknown encoding" };
const tracking = { readAt: ago(MINUTE_MS), waiting: 3 };
const notifying = { delivered: 2, queue: [] };

it.each([
  ["that works", { details: tracking }, { status: "ok" }],
  [
    "that does not get on",
    { details: { ...tracking, failing } },
    {
      status: "failed",
      detail: holding("it does not get on: Unknown encoding; 3"),
    },
  ],
  [
    "that failed a moment ago",
    { details: { ...tracking, failing: { ...failing, since: ago(0) } } },
    { status: "ok" },
  ],
  [
    "that has read nothing for long",
    { details: { ...tracking, readAt: ago(10 * MINUTE_MS) } },
    { status: "failed", detail: holding("could be read last at") },
  ],
  ["that says no time", { details: { readAt: 1e300, waiting: 3 } }, { status: "ok" }],
  ["that has just begun", {}, { status: "ok" }],
  [
    "that executes nothing: something else has its id",
    { begunAt: ago(MINUTE_MS) },
    { status: "failed", detail: holding("it executes nothing") },
  ],
])("a tracker %s", async (_, run, check) => {
  expect(await checkTracker(temporalWith(run), "tracker/0123456789abcdef")).toMatchObject(check);
});

it.each([
  ["that works", { details: notifying }, { status: "ok" }],
  [
    "that cannot look up what happens",
    { details: { ...notifying, blind: failing } },
    { status: "failed", detail: holding("not known what happens: Unknown encod") },
  ],
  [
    "that cannot deliver",
    { details: { ...notifying, failing } },
    { status: "failed", detail: holding("they are not: Unknown encoding") },
  ],
])("a notifier %s", async (_, run, check) => {
  expect(await checkNotifications(temporalWith(run))).toMatchObject(check);
});
