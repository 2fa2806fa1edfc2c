import { type Ledger, openLedger } from "@durable-payments/ledger";
import type { NotifierState, QueuedNotification } from "@durable-payments/protocol/notifications";
import type { Client } from "@temporalio/client";
import { msToTs } from "@temporalio/common/lib/time.js";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { LAG_MS, look as lookFor } from "../src/notifications/look.ts";
import { makeNotifierActivities, MOST_POSTED } from "../src/notifications/notifier-activities.ts";
import { readNotificationSettings } from "../src/notifications/webhook.ts";
import { attempt } from "./support/attempts.ts";
import { ACCOUNT, putRow, ROW } from "./support/rows.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const URL_OF = "https://alerts.example/hooks/t0ken-in-the-path";
const HOUR_MS = 3_600_000;

describe("the settings", () => {
  it("notify nobody where none are given", () => {
    expect(readNotificationSettings({})).toBeUndefined();
  });

  it("have defaults, and take http to this machine", () => {
    const given = { url: URL_OF, secret: SECRET };
    expect(readNotificationSettings(given)).toEqual({
      url: new URL(URL_OF),
      key: Buffer.alloc(32, 7),
      intervalMs: 15_000,
      overdueAfterMs: 120 * HOUR_MS,
      lateAfterMs: 24 * HOUR_MS,
    });
    for (const url of ["http://localhost:80/x", "http://127.0.0.1/", "http://[::1]:8080/"]) {
      expect(readNotificationSettings({ ...given, url: url })).toBeDefined();
    }
  });

  it.each([
    [{ url: "http://alerts.example/hook" }, /_URL .* must begin with https/],
    [{ url: "http://127.0.0.1.example/hook" }, /_URL .* must begin with https/],
    [{ url: "https://ada:t0ken@alerts.example" }, /not contain a user name/],
    [{ url: "t0ken" }, /must be an absolute URL/],
    [{ url: undefined }, /_SECRET .* is set, but PAYMENTS_NOTIFY_URL/],
    [{ secret: "" }, /_SECRET .* must be whsec_/],
    [{ secret: "whsec_dDBrZW4=" }, /_SECRET .* must be whsec_/],
    [{ secret: SECRET.replace("whsec_", "t0ken_") }, /_SECRET .* must be whsec_/],
  ])("refuse %j, without repeating it", (wrong, message) => {
    const given = { url: URL_OF, secret: SECRET };
    const { url, ...rest } = { ...given, ...wrong };
    const read = () => readNotificationSettings({ ...rest, ...(url !== undefined && { url }) });
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
    execution: { workflowId, runId: `run-of-${workflowId}` },
    type: { name: "payout" },
    taskQueue: "payments",
    status: status === "FAILED" ? 3 : 1,
    startTime: msToTs(at),
    ...(status === "FAILED" && { closeTime: msToTs(at) }),
  });
  const timeIn = (query: string, of: string): number | undefined => {
    const [, time] = new RegExp(`${of} >=? "([^"]+)"`).exec(query) ?? [];
    return time === undefined ? undefined : Date.parse(time);
  };
  const list = function* (query: string) {
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
  const listWorkflowExecutions = async ({ query }: { readonly query: string }) => ({
    executions: [...list(query)],
  });
  const options = { namespace: "default" };
  return {
    options,
    workflowService: { listWorkflowExecutions },
    withAbortSignal,
  } as unknown as Client;
};

let ledger: Ledger;
beforeEach(async () => {
  ledger = await openLedger("memory");
  onTestFinished(() => ledger.close());
});

const noteRuns = (runs: ReadonlyArray<Pick<Run, "workflowId">>) =>
  Promise.all(
    runs.map(({ workflowId }) =>
      ledger.recordStart(
        {
          account: ACCOUNT,
          workflowId,
          runId: `run-of-${workflowId}`,
          type: "payout",
          batch: null,
          batchRow: null,
          amount: "250.00",
          currency: "USD",
          payee: null,
          reference: "Invoice 17",
        },
        { by: "ada", how: "test", value: { type: "payout", content: "c" } },
      ),
    ),
  );

/** Looks, and has what was found posted. */
const look = async (client: Client, state: NotifierState) => {
  const { found, told } = await lookFor(
    client,
    {
      ledger,
      namespace: "test",
      taskQueue: "payments",
      overdueAfterMs: HOUR_MS,
      lateAfterMs: 24 * HOUR_MS,
    },
    state,
  );
  return { found, next: { ...state, told: [...told, ...found.map(({ known }) => known)] } };
};

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
    const first = await look(client, { from: Date.now() });
    expect((await look(client, first.next)).found).toEqual([]);
    expect(first.found).toMatchObject([
      {
        notification: {
          type: "run.asks",
          data: {
            namespace: "test",
            taskQueue: "payments",
            workflowId: "asks",
            state: "attention",
            stage: "createPayout",
            command: "durable-payments show asks",
          },
        },
      },
    ]);
    expect(JSON.stringify(first.found)).not.toMatch(/1\.00|USD|Which of two/);
    await putRow(ledger, {
      workflowId: "asks",
      state: "asking",
      version: 2,
      question: question("q2"),
    });
    const second = await look(client, first.next);
    expect(ids(second.found)).toEqual(["asks"]);
    expect(second.found[0]?.id).not.toBe(first.found[0]?.id);
  });

  it("finds each file that waits for its approval once, without amount, payee or name", async () => {
    const batch = { id: "payouts/1", account: ACCOUNT, type: "payout", file: "may.csv" };
    const uploaded = {
      rows: 0,
      createdBy: "ada",
      createdAt: 0,
      approvedBy: null,
      details: "{}",
      chunks: 1,
    };
    await ledger.saveBatch(batch.id, () => ({
      batch: { ...batch, ...uploaded, contentHash: "c", state: "needsApproval" },
    }));
    const client = clientOf(() => []);
    const first = await look(client, { from: Date.now() });
    expect((await look(client, first.next)).found).toEqual([]);
    expect(first.found.map(({ notification: { data, type } }) => ({ type, ...data }))).toEqual([
      {
        type: "batch.asks",
        namespace: "test",
        taskQueue: "payments",
        workflowId: "payouts/1",
        workflowType: "payout",
        state: "attention",
        batch: "payouts/1",
        rows: {},
        command: "durable-payments show payouts/1",
      },
    ]);
  });

  it("finds what else only a person can mend once as long as it lasts, with a count and sums", async () => {
    const pay = async (workflowId: string, paymentDate: string) => {
      const request = { ...ROW.request, amount: "9.50", paymentDate };
      const done = { state: "done", doubt: 0, madeId: `p-${workflowId}` } as const;
      await putRow(ledger, { workflowId, ...done, request, changedAt: Date.now() });
    };
    const saw =
      (word: string, outcome: "completed" | null, asks = false) =>
      (id: string) =>
        ledger.sawPayout(ACCOUNT, `p-${id}`, { word, outcome, asks, problem: null });
    await pay("late-1", "2026-11-02");
    await pay("late-2", "2026-11-03");
    await pay("not-due", "2999-01-01");
    await saw("Paid out, DE89370400440532013000", null, true)("not-due");
    const client = clientOf(() => []);
    const first = await look(client, { from: Date.now() });
    expect(
      first.found.map(({ notification: { data, type } }) => ({ type, ...data })),
    ).toMatchObject([
      { type: "attention", kind: "late", count: 2, sums: { USD: "19.00" } },
      { type: "attention", kind: "word", count: 1, reason: "Paid out, …3000" },
    ]);
    // One more of what lasts is no news, nor is one less.
    await pay("late-3", "2026-11-04");
    await saw("completed", "completed")("late-1");
    const second = await look(client, first.next);
    expect(second.found).toEqual([]);
    await saw("completed", "completed")("late-2");
    await saw("completed", "completed")("late-3");
    const third = await look(client, second.next);
    await pay("late-4", "2026-11-05");
    const fourth = await look(client, third.next);
    expect(fourth.found.map(({ notification: { data } }) => data.kind)).toEqual(["late"]);
    expect(fourth.found[0]?.id).not.toBe(first.found[0]?.id);
  });

  it("finds looser limits that wait for a second person, once", async () => {
    const limits = { maxAmounts: { EUR: "10" }, approveAbove: null };
    const actor = { by: "ada", how: "--by", reason: "audit" };
    await ledger.setLimits(ACCOUNT, limits, actor);
    const client = clientOf(() => []);
    expect((await look(client, { from: Date.now() })).found).toEqual([]);
    await ledger.setLimits(ACCOUNT, { ...limits, maxAmounts: null }, actor);
    const first = await look(client, { from: Date.now() });
    expect((await look(client, first.next)).found).toEqual([]);
    expect(first.found.map(({ notification: { data, type } }) => [type, data])).toMatchObject([
      ["limits.ask", { workflowId: `limits/${ACCOUNT}`, state: "attention" }],
    ]);
  });

  it("finds a run that Temporal lists minutes late, and none that is no payment", async () => {
    const now = Date.now();
    const [late, other, foreign] = failedRuns(3, now);
    if (!late || !other || !foreign) throw new Error("three were made");
    await noteRuns([late, other]);
    let runs: ReadonlyArray<Run> = [other, foreign];
    const client = clientOf(() => runs);
    const first = await look(client, { from: now - 10 * 60_000 });
    expect(ids(first.found)).toEqual([other.workflowId]);
    runs = [other, { ...late, at: now - 5 * 60_000 }];
    const second = await look(client, first.next);
    expect(ids(second.found)).toEqual([late.workflowId]);
  });

  it("finds a run that is overdue, once", async () => {
    const overdue = {
      workflowId: "slow",
      status: "RUNNING",
      at: Date.now() - HOUR_MS - 60_000,
    } as const;
    await noteRuns([overdue]);
    const client = clientOf(() => [overdue]);
    const first = await look(client, { from: Date.now() - 10 * 60_000 });
    expect(first.found).toMatchObject([{ notification: { type: "run.overdue" } }]);
    expect((await look(client, first.next)).found).toEqual([]);
  });

  it("finds a batch that has ended once, and keeps no id of it once it is long ago", async () => {
    let now = Date.now();
    const later = await openLedger("memory", { clock: () => now });
    onTestFinished(() => later.close());
    const client = clientOf(() => []);
    const options = {
      ledger: later,
      namespace: "test",
      taskQueue: "q",
      overdueAfterMs: HOUR_MS,
      lateAfterMs: 24 * HOUR_MS,
    };
    let state: NotifierState = { from: Date.now() - LAG_MS };
    const posted: Array<unknown> = [];
    const most: Array<number> = [];
    for (let number = 1; number <= 20; number++) {
      const id = `payouts/${number}`;
      const batch = { id, account: ACCOUNT, type: "payout", file: "may.csv", contentHash: "c" };
      const uploaded = {
        rows: 0,
        createdBy: "ada",
        createdAt: 0,
        approvedBy: null,
        details: "{}",
        chunks: 1,
      };
      await later.saveBatch(id, () => ({ batch: { ...batch, ...uploaded, state: "approved" } }));
      await later.finishBatch(id);
      // Twice: the second look finds nothing new.
      for (let round = 0; round < 2; round++) {
        const { found, told } = await lookFor(client, options, state);
        posted.push(...ids(found));
        state = { ...state, told: [...told, ...found.map((one) => one.id)] };
        most.push(state.told?.length ?? 0);
      }
      now += LAG_MS / 2;
    }
    expect(posted).toEqual(Array.from({ length: 20 }, (_, index) => `payouts/${index + 1}`));
    expect(Math.max(...most)).toBeLessThanOrEqual(3);
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
    url: `http://127.0.0.1:${port}/`,
    secret: SECRET,
  });
  return { posted, settings };
};

const over = (client: Client, heartbeatDetails?: unknown) => attempt({ heartbeatDetails }, client);

const notifierOver = ({ settings }: Awaited<ReturnType<typeof startEndpoint>>) =>
  makeNotifierActivities({ ledger, taskQueue: "payments", settings, turnMs: 0 }).notify;

describe("the notifier", () => {
  it("continues with what a killed worker had not delivered", async () => {
    const endpoint = await startEndpoint(200);
    const now = Date.now();
    const runs = failedRuns(2, now);
    await noteRuns(runs);
    const client = clientOf(() => runs);
    const [first] = (await look(client, { from: now })).found;
    const left = { from: now, told: [first?.id] };
    const state = (await over(client, left).run(
      notifierOver(endpoint),
      undefined,
    )) as NotifierState;
    expect(state.told).toHaveLength(2);
    expect(endpoint.posted).toMatchObject([{ data: { workflowId: "failed-1" } }]);
  });

  it("posts each of many failed runs once, in order", async () => {
    const endpoint = await startEndpoint(200);
    const now = Date.now();
    const runs = failedRuns(MOST_POSTED + 20, now - 4_000).toReversed();
    await noteRuns(runs);
    const client = clientOf(() => runs);
    let state: NotifierState = { from: now - 5_000 };
    for (let turn = 0; turn < 3; turn += 1) {
      const next = await over(client).run(notifierOver(endpoint), state);
      // It goes through a history.
      state = JSON.parse(JSON.stringify(next)) as NotifierState;
      expect(endpoint.posted.length).toBe(turn === 0 ? MOST_POSTED : runs.length);
    }
    const posted = endpoint.posted as ReadonlyArray<QueuedNotification["notification"]>;
    expect(posted.map(({ data }) => data.workflowId)).toEqual(
      runs.map(({ workflowId }) => workflowId).toReversed(),
    );
  });

  it("keeps what an endpoint refuses, and gives it up after three days", async () => {
    const endpoint = await startEndpoint(503);
    const notify = notifierOver(endpoint);
    const now = Date.now();
    const longAgo = now - 73 * HOUR_MS;
    const runs = [...failedRuns(1, longAgo), ...failedRuns(2, now).slice(1)];
    await noteRuns(runs);
    const client = clientOf(() => runs);
    const kept = (await over(client).run(notify, { from: longAgo })) as NotifierState;
    expect(kept).toMatchObject({ from: longAgo, told: [] });
    expect(kept.failing?.why).toMatch(/^127\.0\.0\.1:\d+ answers 503$/);
    const failing = { why: "", since: longAgo };
    await over(client).run(notify, { ...kept, failing });
    expect(endpoint.posted).toMatchObject([
      { data: { workflowId: "failed-0" } },
      { data: { workflowId: "failed-1" } },
    ]);
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
    expect(await running).not.toHaveProperty("failing");

    const unset = makeNotifierActivities({ ledger, taskQueue: "payments" });
    await expect(over(clientOf(() => [])).run(unset.notify, undefined)).rejects.toMatchObject({
      type: "NotConfigured",
      nonRetryable: false,
    });
    expect(await over(clientOf(() => [])).run(unset.sendTestNotification)).toMatchObject({
      isDelivered: false,
      why: "PAYMENTS_NOTIFY_URL (notify.url) is not set for this worker",
    });
  });
});
