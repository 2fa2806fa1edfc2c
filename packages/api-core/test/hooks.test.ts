import { setImmediate } from "node:timers/promises";
import { Effect } from "effect";
import { describe, expect, it } from "vitest";
import { BeforeSend, type ClientSettings, PaymentsClient, Unavailable } from "../src/effect.ts";
import type { Hooks, RequestEvent, ResponseEvent } from "../src/client/hooks.ts";
import { clientFor, failureOf, settingsFor } from "./support/client.ts";
import { requests } from "./support/requests.ts";
import { answers } from "./support/responses.ts";
import { refusal, startServer, success } from "./support/server.ts";

/** Hooks that note what they get. */
const watcher = () => {
  const sent: Array<RequestEvent> = [];
  const answered: Array<ResponseEvent> = [];
  const hooks: Required<Hooks> = {
    onRequest: (event) => sent.push(event),
    onResponse: (event) => answered.push(event),
  };
  return { sent, answered, hooks };
};

describe("onRequest and onResponse", () => {
  it("get each send with operation, method, path template, attempt, status and request id", async () => {
    const { answered, hooks, sent } = watcher();
    await using server = await startServer((_, n) =>
      n === 0
        ? { status: 503, body: "" }
        : {
            ...success({ payout_id: "PO-1", payout_status: "closed" }),
            headers: { "x-request-id": "req-7" },
          },
    );
    await using client = clientFor(server.url, hooks);
    await client.retrievePayout({ payout_id: "PO-1" });
    const path = "/api/v1/payouts/{payout_id}/retrieve";
    const payout = { operation: "retrievePayout", method: "GET", path };
    expect(sent).toStrictEqual([
      { operation: "signIn", method: "POST", path: "/api/v1/auth/signin", attempt: 1 },
      { ...payout, attempt: 1 },
      { ...payout, attempt: 2 },
    ]);
    expect(answered.map(({ durationMs: _, ...event }) => event)).toStrictEqual([
      { ...sent[0], status: 200 },
      { ...payout, attempt: 1, status: 503 },
      { ...payout, attempt: 2, status: 200, requestId: "req-7" },
    ]);
    for (const { durationMs } of answered) expect(durationMs).toBeGreaterThan(0);
  });

  it("get no value of a request or an answer", async () => {
    const { answered, hooks, sent } = watcher();
    await using server = await startServer(() =>
      refusal("Jane Roe of DE89370400440532013000 is unknown"),
    );
    await using client = clientFor(server.url, hooks);
    await failureOf(client.createBeneficiary(requests.createBeneficiary));
    await failureOf(client.retrieveBalance({ currency: "USD" }));
    const seen = JSON.stringify([sent, answered]);
    const values = Object.entries(requests.createBeneficiary).flatMap(([name, value]) =>
      name === "entity_type" || String(value).length < 5 ? [] : [String(value)],
    );
    expect(values.length).toBeGreaterThan(5);
    for (const value of [...values, "Jane", "DE89", "USD", "token-1", "key-of-the-test"]) {
      expect(seen).not.toContain(value);
    }
    expect(seen).toContain("createBeneficiary");
  });

  it("get why no whole response came, once for each send", async () => {
    const { answered, hooks, sent } = watcher();
    await using server = await startServer(
      () =>
        ({ socket }) =>
          socket.destroy(),
    );
    await using client = clientFor(server.url, { ...hooks, maxAttempts: 2 });
    await failureOf(client.retrieveBalance({ currency: "USD" }));
    const events = answered.filter(({ operation }) => operation === "retrieveBalance");
    expect(events).toHaveLength(2);
    for (const event of events) {
      expect(event).not.toHaveProperty("status");
      expect(event.problem).toMatch(/connection/);
    }
    expect(sent).toHaveLength(answered.length);
  });

  it("get the end of a send that was given up", async () => {
    const { answered, hooks } = watcher();
    await using server = await startServer(() => () => undefined);
    await using client = clientFor(server.url, hooks);
    const controller = new AbortController();
    const calling = client.ping({}, { signal: controller.signal });
    await Promise.all([
      expect(calling).rejects.toThrow("aborted"),
      server.received(1).then(() => controller.abort()),
    ]);
    expect(answered.at(-1)).toMatchObject({ operation: "ping", problem: "aborted" });
  });

  it("get that BeforeSend has not permitted a send", async () => {
    const { answered, hooks } = watcher();
    await using server = await startServer(() => answers.ping);
    const paused = new Unavailable({
      operation: "freezeCard",
      carriedOut: "no",
      message: "paused",
    });
    const calling = PaymentsClient.use((client) => client.freezeCard({ card_id: "card-1" })).pipe(
      Effect.provideService(BeforeSend, () => Effect.fail(paused)),
      Effect.flip,
      Effect.provide(PaymentsClient.layer(settingsFor(server.url, hooks))),
    );
    expect(await Effect.runPromise(calling)).toBe(paused);
    expect(answered.at(-1)).toMatchObject({ operation: "freezeCard", problem: "not sent" });
    expect(server.requests).toHaveLength(0);
  });
});

describe("a hook that fails", () => {
  const thrown = () => {
    throw new Error("the metrics are down");
  };
  const rejected = () => Promise.reject(new Error("the metrics are down"));
  const spoils = (event: RequestEvent) =>
    void Object.assign(event, { operation: "x", attempt: 99 });

  it.each<[string, Partial<ClientSettings>, number]>([
    ["throws", { onRequest: thrown, onResponse: thrown }, 2],
    ["rejects", { onRequest: rejected, onResponse: rejected }, 2],
    ["changes what it gets", { onRequest: spoils, onResponse: spoils }, 0],
  ])("because it %s changes no call, and is logged once", async (_, hooks, warnings) => {
    const warned: Array<string> = [];
    const logger = { debug: () => undefined, warn: (message: string) => warned.push(message) };
    await using server = await startServer(() => success());
    await using client = clientFor(server.url, { ...hooks, logger });
    for (const card_id of ["card-1", "card-2"]) {
      expect(await client.freezeCard({ card_id })).toBeUndefined();
    }
    expect(server.requests).toHaveLength(2);
    await setImmediate();
    expect(warned).toHaveLength(warnings);
    for (const message of warned)
      expect(message).toContain("failed, without affecting the call: the metr");
  });
});

describe("a logger", () => {
  it("gets what cannot be read as a warning, and each send that is repeated", async () => {
    const lines: Array<string> = [];
    const logger = {
      debug: (message: string) => lines.push(`debug ${message}`),
      warn: (message: string) => lines.push(`warn ${message}`),
    };
    await using server = await startServer((_, n) =>
      n === 0
        ? { status: 503, body: "" }
        : success({ total_item: 1, total_page: 1, item_list: ["junk"] }),
    );
    await using client = clientFor(server.url, { logger });
    for await (const _ of client.streams.listPayouts()) expect.unreachable();
    expect(lines).toStrictEqual([
      expect.stringMatching(
        /^debug listPayouts: send 1 failed \(.*HTTP 503.*\); again in \d ms\.$/,
      ),
      expect.stringMatching(/^warn listPayouts: a row of page 1 was skipped/),
    ]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("disk full");
      },
    ],
    // An unhandled rejection ends the process, and fails this test.
    ["rejects", () => Promise.reject(new Error("disk full"))],
  ])("that %s changes no call", async (_, broken: () => unknown) => {
    await using server = await startServer(() =>
      success({ total_item: 1, total_page: 1, item_list: ["junk"] }),
    );
    await using client = clientFor(server.url, { logger: { debug: broken, warn: broken } });
    for await (const _ of client.streams.listPayouts()) expect.unreachable();
    await setImmediate();
    expect(server.requests).toHaveLength(1);
  });
});
