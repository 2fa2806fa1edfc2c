import { type Ledger, openLedger } from "@durable-payments/ledger";
import type { NotifierState, QueuedNotification } from "@durable-payments/protocol/notifications";
import type { Client } from "@temporalio/client";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { firstState, Look, MOST_QUEUED } from "../src/notifications/look.ts";
import { makeNotifierActivities } from "../src/notifications/notifier-activities.ts";
import { readNotificationSettings } from "../src/notifications/settings.ts";
import { attempt } from "./support/attempts.ts";
import { ACCOUNT, putRow } from "./support/rows.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const URL_OF = "https://alerts.example/hooks/t0ken-in-the-path";
const HOUR_MS = 3_600_000;

describe("the settings", () => {
  it("notify nobody where none are given", () => {
    expect(readNotificationSettings({})).toBeUndefined();
    expect(readNotificationSettings({ PAYMENTS_NOTIFY_URL: " " })).toBeUndefined();
  });

  it("have defaults, and take http to this machine", () => {
    const given = { PAYMENTS_NOTIFY_URL: URL_OF, PAYMENTS_NOTIFY_SECRET: SECRET };
    expect(readNotificationSettings(given)).toEqual({
      url: new URL(URL_OF),
      key: Buffer.alloc(32, 7),
      intervalMs: 15_000,
      overdueAfterMs: 120 * HOUR_MS,
    });
    for (const url of ["http://localhost:80/x", "http://127.0.0.1/", "http://[::1]:8080/"]) {
      expect(readNotificationSettings({ ...given, PAYMENTS_NOTIFY_URL: url })).toBeDefined();
    }
  });

  it.each([
    [{ PAYMENTS_NOTIFY_URL: "http://alerts.example/hook" }, /_URL must begin with https/],
    [{ PAYMENTS_NOTIFY_URL: "http://127.0.0.1.example/hook" }, /_URL must begin with https/],
    [{ PAYMENTS_NOTIFY_URL: "https://ada:t0ken@alerts.example" }, /carry no user name/],
    [{ PAYMENTS_NOTIFY_URL: "t0ken" }, /must be an absolute URL/],
    [{ PAYMENTS_NOTIFY_URL: "" }, /_SECRET is set without PAYMENTS_NOTIFY_URL/],
    [{ PAYMENTS_NOTIFY_SECRET: "" }, /_SECRET must be whsec_/],
    [{ PAYMENTS_NOTIFY_SECRET: "whsec_dDBrZW4=" }, /_SECRET must be whsec_/],
    [{ PAYMENTS_NOTIFY_SECRET: SECRET.replace("whsec_", "t0ken_") }, /_SECRET must be whsec_/],
    [{ PAYMENTS_NOTIFY_INTERVAL_SECONDS: "0" }, /_INTERVAL_SECONDS must be a number above 0/],
    [{ PAYMENTS_NOTIFY_OVERDUE_HOURS: "soon" }, /_OVERDUE_HOURS must be a number above 0/],
  ])("refuse %j, without repeating it", (wrong, message) => {
    const given = { PAYMENTS_NOTIFY_URL: URL_OF, PAYMENTS_NOTIFY_SECRET: SECRET };
    const read = () => readNotificationSettings({ ...given, ...wrong });
    expect(read).toThrow(message);
    expect(read).not.toThrow(/t0ken|BwcH/);
  });
});

interface Run {
  readonly workflowId: string;
  readonly status: "RUNNING" | "FAILED";
  /** When it began or ended. */
  readonly at: number;
}

/** A client whose visibility shows these runs. */
const clientOf = (runs: () => ReadonlyArray<Run>) => {
  const shown = ({ at, status, workflowId }: Run) => ({
    workflowId,
    runId: `run-of-${workflowId}`,
    type: "payout",
    taskQueue: "payments",
    status: { name: status },
    startTime: new Date(at),
    ...(status === "FAILED" && { closeTime: new Date(at) }),
  });
  const timeIn = (query: string, of: string): number | undefined => {
    const [, time] = new RegExp(`${of} >=? "([^"]+)"`).exec(query) ?? [];
    return time === undefined ? undefined : Date.parse(time);
  };
  const list = async function* ({ query }: { readonly query: string }) {
    const closedFrom = timeIn(query, "CloseTime");
    const startedAfter = timeIn(query, "StartTime");
    const startedTo = Date.parse(/StartTime <= "([^"]+)"/.exec(query)?.[1] ?? "");
    for (const run of runs()) {
      const isMeant =
        closedFrom === undefined
          ? run.status === "RUNNING" && run.at > (startedAfter ?? 0) && run.at <= startedTo
          : run.status === "FAILED" && run.at >= closedFrom;
      if (isMeant) yield shown(run);
    }
  };
  const withAbortSignal = <A>(_: AbortSignal, work: () => A): A => work();
  // Of a client, only this is asked for.
  return { workflow: { list }, withAbortSignal } as unknown as Client;
};

let ledger: Ledger;
beforeEach(async () => {
  ledger = await openLedger("memory");
  onTestFinished(() => ledger.close());
});

const noteRuns = (runs: ReadonlyArray<Pick<Run, "workflowId">>) =>
  ledger.noteRuns(
    runs.map(({ workflowId }) => ({
      account: ACCOUNT,
      workflowId,
      runId: `run-of-${workflowId}`,
      type: "payout",
      startedBy: null,
      batch: null,
      batchRow: null,
      amount: "250.00",
      currency: "USD",
      payee: null,
      reference: "Invoice 17",
    })),
  );

const look = (client: Client, state: NotifierState) =>
  new Look(
    client,
    { ledger, namespace: "default", taskQueue: "payments", overdueAfterMs: HOUR_MS },
    state,
  ).find();

const ids = (queue: ReadonlyArray<QueuedNotification>) =>
  queue.map(({ notification }) => notification.data.workflowId);

const failedRuns = (count: number, from: number): ReadonlyArray<Run> =>
  Array.from({ length: count }, (_, index) => ({
    workflowId: `failed-${index}`,
    status: "FAILED",
    at: from + index,
  }));

const question = (id: string) => ({
  id,
  kind: "outcome" as const,
  reason: "Which of two?",
  candidates: [],
  account: null,
  since: 1,
});

describe("a look", () => {
  it("finds each question once, of ended runs, too, without amount, payee or reason", async () => {
    await putRow(ledger, { workflowId: "asks", state: "asking", question: question("q1") });
    const client = clientOf(() => []);
    let state = await look(client, firstState(Date.now()));
    state = await look(client, state);
    expect(state.queue).toMatchObject([
      {
        notification: {
          type: "run.asks",
          data: {
            namespace: "default",
            taskQueue: "payments",
            workflowId: "asks",
            state: "attention",
            stage: "createPayout",
            command: "starter show asks",
          },
        },
      },
    ]);
    expect(JSON.stringify(state.queue)).not.toMatch(/1\.00|USD|Which of two/);
    await putRow(ledger, {
      workflowId: "asks",
      state: "asking",
      version: 2,
      question: question("q2"),
    });
    state = await look(client, state);
    expect(ids(state.queue)).toEqual(["asks", "asks"]);
    expect(new Set(state.queue.map(({ id }) => id)).size).toBe(2);
  });

  it("finds each of many failed runs once, in order, however full its queue is", async () => {
    const now = Date.now();
    const runs = failedRuns(1_200, now - 4_000).toReversed();
    await noteRuns(runs);
    const client = clientOf(() => runs);
    let state = firstState(now - 5_000);
    const delivered: Array<string | undefined> = [];
    for (let turn = 0; turn < 5; turn += 1) {
      state = await look(client, state);
      expect(state.queue.length).toBeLessThanOrEqual(MOST_QUEUED);
      delivered.push(...ids(state.queue));
      // It goes through a history.
      state = JSON.parse(JSON.stringify({ ...state, queue: [] })) as NotifierState;
    }
    expect(delivered).toEqual(runs.map(({ workflowId }) => workflowId).toReversed());
  });

  it("finds a run that Temporal lists minutes late, and none that is no payment", async () => {
    const now = Date.now();
    const [late, other, foreign] = failedRuns(3, now);
    if (!late || !other || !foreign) throw new Error("three were made");
    await noteRuns([late, other]);
    let runs: ReadonlyArray<Run> = [other, foreign];
    const client = clientOf(() => runs);
    const first = await look(client, firstState(now));
    expect(ids(first.queue)).toEqual([other.workflowId]);
    runs = [other, { ...late, at: now - 5 * 60_000 }];
    const second = await look(client, { ...first, queue: [] });
    expect(ids(second.queue)).toEqual([late.workflowId]);
  });

  it("finds a run that is overdue, once", async () => {
    const overdue = {
      workflowId: "slow",
      status: "RUNNING",
      at: Date.now() - 2 * HOUR_MS,
    } as const;
    await noteRuns([overdue]);
    const client = clientOf(() => [overdue]);
    const first = await look(client, firstState(Date.now()));
    expect(first.queue).toMatchObject([{ notification: { type: "run.overdue" } }]);
    expect((await look(client, first)).queue).toHaveLength(1);
  });
});

/** An endpoint that answers with a status, and what it was posted. */
const startEndpoint = async (status: number) => {
  const posted: Array<unknown> = [];
  const webhook = new Webhook(SECRET);
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      posted.push(webhook.verify(body, request.headers as Record<string, string>));
      response.writeHead(status).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // It listens at a port.
  const { port } = server.address() as AddressInfo;
  const settings = readNotificationSettings({
    PAYMENTS_NOTIFY_URL: `http://127.0.0.1:${port}/`,
    PAYMENTS_NOTIFY_SECRET: SECRET,
  });
  return { posted, settings };
};

const over = (client: Client, heartbeatDetails?: unknown) => attempt({ heartbeatDetails }, client);

const queued = (workflowId: string, at: number): QueuedNotification => ({
  id: `msg_${workflowId}`,
  notification: {
    type: "run.failed",
    timestamp: new Date(at).toISOString(),
    data: { namespace: "default", taskQueue: "payments", workflowId },
  },
});

describe("the notifier", () => {
  it("goes on with what a killed worker had not delivered", async () => {
    const { posted, settings } = await startEndpoint(200);
    const { notify } = makeNotifierActivities({
      ledger,
      taskQueue: "payments",
      settings,
      turnMs: 0,
    });
    const now = Date.now();
    const left = { ...firstState(now), queue: [queued("one", now), queued("two", now + 1)] };
    const run = over(
      clientOf(() => []),
      left,
    );
    const state = (await run.run(notify, undefined)) as NotifierState;
    expect(state).toMatchObject({ queue: [], delivered: 2 });
    expect(posted).toMatchObject([
      { data: { workflowId: "one" } },
      { data: { workflowId: "two" } },
    ]);
  });

  it("keeps what an endpoint refuses, and gives it up after three days", async () => {
    const { posted, settings } = await startEndpoint(503);
    const { notify } = makeNotifierActivities({
      ledger,
      taskQueue: "payments",
      settings,
      turnMs: 0,
    });
    const now = Date.now();
    const client = clientOf(() => []);
    const given = { ...firstState(now), queue: [queued("one", now), queued("two", now)] };
    const kept = (await over(client).run(notify, given)) as NotifierState;
    expect(kept).toMatchObject({ delivered: 0, givenUp: 0, queue: given.queue });
    expect(kept.failing?.why).toMatch(/^127\.0\.0\.1:\d+ answers 503$/);
    expect(posted).toHaveLength(1);

    const longAgo = now - 73 * HOUR_MS;
    const old = {
      ...given,
      failing: { why: "", since: longAgo },
      queue: [queued("old", longAgo), queued("new", now)],
    };
    const later = (await over(client).run(notify, old)) as NotifierState;
    expect(later).toMatchObject({ givenUp: 1, queue: [{ id: "msg_new" }] });
  });

  it("ends with its state as its worker drains, and waits for one that has an address", async () => {
    const { settings } = await startEndpoint(200);
    const draining = new AbortController();
    const { notify } = makeNotifierActivities({
      ledger,
      taskQueue: "payments",
      settings,
      draining: draining.signal,
    });
    const running = over(clientOf(() => [])).run(notify, undefined);
    draining.abort();
    expect(await running).toMatchObject({ queue: [], delivered: 0 });

    const unset = makeNotifierActivities({ ledger, taskQueue: "payments" });
    await expect(over(clientOf(() => [])).run(unset.notify, undefined)).rejects.toMatchObject({
      type: "NotConfigured",
      nonRetryable: false,
    });
    expect(await over(clientOf(() => [])).run(unset.sendTestNotification)).toMatchObject({
      isDelivered: false,
      why: "PAYMENTS_NOTIFY_URL is not set for this worker",
    });
  });
});
