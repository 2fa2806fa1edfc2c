import { type Ledger, openLedger } from "@durable-payments/ledger";
import type { NotifierState } from "@durable-payments/protocol/payloads";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { makeNotifierActivities } from "../src/notifications/notifier-activities.ts";
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

interface Notification {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

let ledger: Ledger;
beforeEach(async () => {
  ledger = await openLedger("memory");
  onTestFinished(() => ledger.close());
});

const start = (workflowId: string, account = ACCOUNT, type = "payout") =>
  ledger.recordStart(
    {
      account,
      workflowId,
      runId: `run-of-${workflowId}`,
      type,
      batch: null,
      batchRow: null,
      amount: "250.00",
      currency: "USD",
      payee: "mark-of-DE89370400440532013000",
      reference: "Invoice 17",
    },
    { by: "ada", how: "test", value: { type, content: "c" } },
  );

/** An endpoint that answers with a status, and what it was posted. */
const startEndpoint = async (statusOf: (body: string) => number) => {
  const posted: Array<unknown> = [];
  const ids: Array<unknown> = [];
  const webhook = new Webhook(SECRET);
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const notification = webhook.verify(body, request.headers as Record<string, string>);
      const status = statusOf(body);
      if (status === 200) {
        posted.push(notification);
        ids.push(request.headers["webhook-id"]);
      }
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
  return { ids, posted, settings };
};

const over = (heartbeatDetails?: unknown) => attempt({ heartbeatDetails });

const notifierOver = ({ settings }: Awaited<ReturnType<typeof startEndpoint>>) =>
  makeNotifierActivities({ ledger, taskQueue: "payments", settings, turnMs: 0 }).notify;

const idsIn = (posted: ReadonlyArray<unknown>) =>
  (posted as ReadonlyArray<Notification>).map(({ data }) => data.workflowId);

describe("the notifier", () => {
  it("posts the events of each account once, in order, with their facts and without a payee", async () => {
    const endpoint = await startEndpoint(() => 200);
    const ids = Array.from({ length: 250 }, (_, at) => `p-${at}`);
    for (const id of ids) await start(id);
    await start("other", "another-account");
    for (let turn = 0; turn < 2; turn++) {
      expect(await over().run(notifierOver(endpoint), undefined)).toEqual({});
    }
    expect(idsIn(endpoint.posted).filter((id) => id !== "other")).toEqual(ids);
    expect(endpoint.posted).toHaveLength(251);
    expect(endpoint.posted).toContainEqual({
      type: "payment.created",
      timestamp: expect.stringMatching(/^20/),
      data: {
        namespace: "test",
        taskQueue: "payments",
        account: ACCOUNT,
        subject: "payment",
        state: "open",
        workflowId: "p-7",
        step: "createPayout",
        runId: "run-of-p-7",
        workflowType: "payout",
        amount: "250.00",
        currency: "USD",
        reference: "Invoice 17",
        command: "durable-payments show p-7",
      },
    });
  });

  it("delivers again after a failure from the event that failed, and no account waits for another", async () => {
    let isAway = false;
    const endpoint = await startEndpoint((body) => (isAway && body.includes('"p-2"') ? 503 : 200));
    for (const id of ["p-1", "p-2", "p-3"]) await start(id);
    await start("other", "another-account");
    isAway = true;
    const state = (await over().run(notifierOver(endpoint), undefined)) as NotifierState;
    expect(state.failing?.why).toMatch(/^127\.0\.0\.1:\d+ answers 503$/);
    expect(new Set(idsIn(endpoint.posted))).toEqual(new Set(["other", "p-1"]));
    isAway = false;
    // Its next run has the state, or the heartbeat of a killed worker.
    expect(await over(state).run(notifierOver(endpoint), undefined)).toEqual({});
    expect(idsIn(endpoint.posted).slice(2)).toEqual(["p-2", "p-3"]);
    await ledger.redeliver(ACCOUNT, {});
    await over().run(notifierOver(endpoint), undefined);
    expect(idsIn(endpoint.posted).slice(4)).toEqual(["p-1", "p-2", "p-3"]);
    expect(new Set(endpoint.ids).size).toBe(4);
  });

  it("posts a problem that needs a person once as long as it lasts, with a count, sums and a masked reason", async () => {
    const endpoint = await startEndpoint(() => 200);
    const pay = async (workflowId: string, paymentDate: string) => {
      const request = { ...ROW.request, amount: "9.50", paymentDate };
      const done = { state: "done", doubt: 0, madeId: `p-${workflowId}` } as const;
      await putRow(ledger, { workflowId, ...done, request, changedAt: Date.now() });
    };
    await pay("late-1", "2026-11-02");
    await pay("late-2", "2026-11-03");
    await pay("not-due", "2999-01-01");
    const word = "Paid out, DE89370400440532013000";
    const seen = { word, outcome: null, asks: true, problem: null };
    await ledger.sawPayout(ACCOUNT, "p-not-due", seen);
    for (let turn = 0; turn < 2; turn++) await over().run(notifierOver(endpoint), undefined);
    const posted = endpoint.posted as ReadonlyArray<Notification>;
    expect(posted.filter(({ type }) => type === "attention.raised")).toMatchObject([
      { data: { problem: "late", count: 2, sums: { USD: "19.00" } } },
      { data: { problem: "word", count: 1, reason: "Paid out, …3000" } },
    ]);
    expect(JSON.stringify(posted)).not.toContain("DE8937");
  });

  it("posts once that runs are open for longer than expected, without those that wait for a return", async () => {
    let now = Date.now() - 200 * HOUR_MS;
    ledger = await openLedger("memory", { clock: () => now });
    for (const id of ["slow", "watching"]) await start(id, ACCOUNT, "payOrder");
    const run = { account: ACCOUNT, workflowId: "watching", runId: "run-1" };
    await ledger.openWait({ ...run, activityId: "return", kind: "return", thing: "P-1" });
    now = Date.now();
    const endpoint = await startEndpoint(() => 200);
    const { settings } = await startEndpoint(() => 200);
    // The notifier of another queue expects more patience: a problem neither ends nor begins again.
    const patient = settings && { ...settings, overdueAfterMs: 500 * HOUR_MS };
    const other = makeNotifierActivities({
      ledger,
      taskQueue: "other",
      settings: patient,
      turnMs: 0,
    });
    for (let turn = 0; turn < 3; turn++) {
      await over().run(notifierOver(endpoint), undefined);
      await over().run(other.notify, undefined);
    }
    const overdue = (endpoint.posted as ReadonlyArray<Notification>).filter(
      ({ data }) => "problem" in data && data.problem === "overdue",
    );
    expect(overdue).toMatchObject([
      { type: "attention.raised", data: { workflowId: "slow", count: 1 } },
    ]);
  });

  it("ends with its state as its worker drains, and waits for one that has an address", async () => {
    const { settings } = await startEndpoint(() => 200);
    const draining = new AbortController();
    const { notify } = makeNotifierActivities({
      ledger,
      taskQueue: "payments",
      settings,
      draining: draining.signal,
    });
    const running = over().run(notify, undefined);
    draining.abort();
    expect(await running).not.toHaveProperty("failing");

    const unset = makeNotifierActivities({ ledger, taskQueue: "payments" });
    await expect(over().run(unset.notify, undefined)).rejects.toMatchObject({
      type: "NotConfigured",
      nonRetryable: false,
    });
    expect(await over().run(unset.sendTestNotification)).toMatchObject({
      isDelivered: false,
      why: "PAYMENTS_NOTIFY_URL (notify.url) is not set for this worker",
    });
  });
});
