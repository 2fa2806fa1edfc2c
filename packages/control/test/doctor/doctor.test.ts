import { LedgerUnavailable, openLedger, type WriteCount } from "@durable-payments/ledger";
import { notifierId } from "@durable-payments/protocol";
import { afterAll, expect, it } from "vitest";
import { recover } from "../../src/actions/recovery.ts";
import { encryptionCheck } from "../../src/views/doctor/doctor.ts";
import {
  checkLedger,
  checkLost,
  checkStuck,
  checkWitness,
} from "../../src/views/doctor/ledger-checks.ts";
import { checkTemporal } from "../../src/views/doctor/temporal-checks.ts";
import { ACCOUNT, put, question, row } from "../support/rows.ts";
import { operationsOn } from "../support/stub-client.ts";
import { payloadsOf, TemporalStub, timestamp } from "../support/temporal-stub.ts";

const ledger = await openLedger("memory");
afterAll(() => ledger.close());

const accounts = [{ name: undefined, hash: ACCOUNT }];

const statuses = (checks: ReadonlyArray<{ readonly name: string; readonly status: string }>) =>
  Object.fromEntries(checks.map(({ name, status }) => [name, status]));

const tracker = (tracked: object | undefined, seenAt = Date.now()) => ({
  workflowId: `tracker/${ACCOUNT}`,
  type: "tracker",
  pending: [
    {
      activityId: "1",
      activityType: { name: "track" },
      attempt: 1,
      lastHeartbeatTime: timestamp(seenAt),
      ...(tracked && { heartbeatDetails: payloadsOf(tracked) }),
    },
  ],
});

it("finds Temporal, its workers and the tracker well", async () => {
  const mark = await ledger.mark();
  await using connected = await TemporalStub.connect([
    tracker({ account: ACCOUNT, readAt: Date.now(), waiting: 2, rate: 4.256, hints: "9465", mark }),
    // Of an account that only the workers' settings have.
    {
      ...tracker({ account: "hash-of-eu", readAt: 0, waiting: 0, mark: { ...mark, sequence: 7 } }),
      workflowId: "tracker/hash-of-eu/eu",
    },
  ]);
  const { checks, tracked } = await checkTemporal(connected.temporal, accounts);
  expect(statuses(checks)).toEqual({
    Temporal: "ok",
    namespace: "ok",
    worker: "ok",
    tracker: "ok",
    notifications: "skipped",
  });
  expect(checks.find(({ name }) => name === "tracker")?.detail).toBe(
    "2 open waits; sends at most 4.3 requests/s; its worker receives hints at 9465",
  );
  expect(tracked).toMatchObject([{ mark }, { mark: { sequence: 7 } }]);
});

it.each([
  ["no tracker", [], 1, { tracker: "warning", worker: "ok" }],
  ["no worker", [tracker(undefined)], 0, { tracker: "ok", worker: "failed" }],
  ["a tracker without a sign of life", [tracker(undefined, 0)], 1, { tracker: "failed" }],
  [
    "a tracker that cannot do its work",
    [
      tracker({
        account: ACCOUNT,
        readAt: 0,
        waiting: 1,
        failing: { why: "HTTP 503", since: 0 },
      }),
    ],
    1,
    { tracker: "failed" },
  ],
  [
    "a tracker that works for another account",
    [tracker({ account: "another", readAt: Date.now(), waiting: 0 })],
    1,
    { tracker: "failed" },
  ],
] as const)("finds %s", async (_, runs, pollers, found) => {
  await using connected = await TemporalStub.connect(runs);
  connected.stub.isPolled = () => pollers > 0;
  const { checks } = await checkTemporal(connected.temporal, accounts);
  expect(statuses(checks)).toMatchObject(found);
});

it("advises a restart for a tracker that hangs, and none for one that tries again", async () => {
  const [working] = tracker(undefined).pending;
  const message = "The ledger cannot be used: connection refused.";
  const lastFailure = { message, source: "TypeScriptSDK" };
  const adviceOf = async (run: object) => {
    await using connected = await TemporalStub.connect([{ ...tracker(undefined), ...run }]);
    const { checks } = await checkTemporal(connected.temporal, accounts);
    return checks.find(({ name }) => name === "tracker")?.remedy;
  };
  const tracked = { account: ACCOUNT, readAt: 0, waiting: 1 };
  const failing = { why: "payouts: connection refused", since: 0 };
  const retried = { ...working, lastHeartbeatTime: null, lastFailure };
  expect(await adviceOf({ pending: [retried] })).toContain("needs no restart");
  expect(await adviceOf(tracker({ ...tracked, failing }))).toContain("needs no restart");
  expect(await adviceOf(tracker(tracked))).toContain("restart the worker");
  expect(await adviceOf(tracker(undefined, 1))).toContain("restart the worker");
});

it("names the worker that lacks the address of the webhook, and why nothing is delivered", async () => {
  const message = "PAYMENTS_NOTIFY_URL (notify.url) is not set for this worker.";
  const applicationFailureInfo = { type: "NotConfigured" };
  const activity = {
    activityId: "1",
    activityType: { name: "notify" },
    attempt: 2,
    lastFailure: { message, source: "TypeScriptSDK", applicationFailureInfo },
    lastWorkerIdentity: "17@host-b",
  };
  await using connected = await TemporalStub.connect([
    { workflowId: notifierId("payments"), type: "notifier", pending: [activity] },
  ]);
  const { checks } = await checkTemporal(connected.temporal, accounts);
  expect(checks.find(({ name }) => name === "notifications")).toMatchObject({
    status: "failed",
    detail: `the worker 17@host-b failed: ${message.slice(0, -1)}`,
  });
});

it("warns where a dataConverter encrypts what Temporal stores, and no keyring the ledger", async () => {
  await using connected = await TemporalStub.connect([]);
  const { settings } = connected.temporal;
  const encrypted = { ...connected.temporal, settings: { ...settings, dataConverter: {} } };
  const place = { ledger: "memory", clientId: undefined };
  expect(encryptionCheck(place, encrypted)).toMatchObject([{ status: "warning" }]);
  expect(encryptionCheck({ ...place, keyring: "/keys" }, encrypted)).toEqual([]);
  expect(encryptionCheck(place, connected.temporal)).toEqual([]);
});

it("finds the ledger well", async () => {
  await ledger.pin("default");
  await put(ledger, row({ state: "asking", doubt: 1, question: question() }));
  const checks = await checkLedger(ledger, "default", accounts, []);
  expect(statuses(checks)).toEqual({
    ledger: "ok",
    "ledger writes": "ok",
    witness: "skipped",
    log: "ok",
    limits: "warning",
    sends: "ok",
    "unknown outcomes": "ok",
  });
});

it("finds a ledger that can be read and not written", async () => {
  const check = () => Promise.reject(new LedgerUnavailable("its disk is full"));
  const checks = await checkLedger({ ...ledger, check }, "default", accounts, []);
  expect(checks).toContainEqual(
    expect.objectContaining({
      name: "ledger writes",
      status: "failed",
      detail: "its disk is full",
    }),
  );
});

it("finds a ledger of another namespace", async () => {
  const [identity] = await checkLedger(ledger, "other", accounts, []);
  expect(identity).toMatchObject({ name: "ledger", status: "failed" });
});

it("finds a pause, and who has paused", async () => {
  const actor = { by: "bob", how: "flag", reason: "audit" };
  await ledger.pause("all", "", actor);
  const sends = (await checkLedger(ledger, "default", accounts, [])).find(
    ({ name }) => name === "sends",
  );
  expect(sends).toMatchObject({
    status: "warning",
    detail: "all sends paused by bob: audit",
    next: { action: "resume" },
  });
  await ledger.resume("all", "", actor);
});

it("finds a ledger that was restored, or another one", async () => {
  const { state } = await ledger.overview();
  const seen = (mark: object) => [
    {
      account: ACCOUNT,
      readAt: 0,
      waiting: 0,
      mark: { ledgerId: state.ledgerId, epoch: state.epoch, sequence: state.sequence, ...mark },
    },
  ];
  expect(checkWitness(state, seen({}))).toMatchObject({ status: "ok" });
  // Temporal is down, or its tracker is new.
  expect(checkWitness(state, [])).toMatchObject({
    detail: expect.stringMatching(/^cannot tell: /),
  });
  expect(checkWitness(state, seen({ sequence: state.sequence + 1 }))).toMatchObject({
    status: "failed",
    next: { action: "recover" },
  });
  expect(checkWitness(state, seen({ ledgerId: "other" }))).toMatchObject({ status: "failed" });
});

it("finds what makes no progress: old unknown outcomes", async () => {
  const { state } = await ledger.overview();
  const unknown: WriteCount = {
    account: ACCOUNT,
    operation: "createPayout",
    state: "unknown",
    question: null,
    currency: "EUR",
    rows: 1,
    amount: "1.00",
    since: state.now - 2 * 36e5,
  };
  const overview = { state, writes: [unknown], waits: [], failures: [], toNotify: 1 };
  expect(checkStuck(overview)).toMatchObject({ name: "unknown outcomes", status: "warning" });
});

it("fails while Temporal has no run of what is unfinished, also before a tracker has noticed", async () => {
  let now = Date.now();
  const opened = await openLedger("memory", { clock: () => now });
  const inTemporal: Record<string, []> = { running: [] };
  const { operations } = operationsOn(opened, "taken", inTemporal);
  const made = { state: "done", madeId: "P-1" } as const;
  await put(opened, row({ workflowId: "running" }));
  expect(await checkLost(opened, operations.client)).toMatchObject({ status: "ok" });
  await put(opened, row({ workflowId: "made", ...made }));
  await put(opened, row({ workflowId: "lost" }));
  // Just started.
  expect(await checkLost(opened, operations.client)).toMatchObject({ status: "ok" });
  now += 120_000;
  expect(await checkLost(opened, operations.client)).toMatchObject({
    status: "failed",
    detail: expect.stringMatching(
      /^2 runs of .* lost, made; recover names the files to pay or onboard again/,
    ),
    next: { action: "recover" },
  });
  await recover(operations, { by: "ada", how: "--by", reason: "lost", isDryRun: false });
  // The tracker follows the payout that was made. The other run has to be started again.
  expect(await checkLost(opened, operations.client)).toMatchObject({
    status: "failed",
    detail: expect.stringMatching(/^1 run of the ledger is unknown to Temporal: lost;/),
  });
  inTemporal["lost"] = [];
  await put(opened, { ...row({ workflowId: "lost" }), version: 2 });
  expect(await checkLost(opened, operations.client)).toMatchObject({ status: "ok" });
});
