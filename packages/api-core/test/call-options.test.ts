import { Effect } from "effect";
import { describe, expect, it } from "vitest";
import { PaymentsClient } from "../src/effect.ts";
import type { CallOptions } from "../src/index.ts";
import { anyEffect, anyOperation, clientFor, failureOf, settingsFor } from "./support/client.ts";
import { requests } from "./support/requests.ts";
import { answers } from "./support/responses.ts";
import { type Answer, refusal, startServer, success } from "./support/server.ts";

const unavailable: Answer = () => ({ status: 503, body: "" });
const never: Answer = () => () => undefined;

/** Options of a caller without types. */
const untyped = (options: unknown) => options as CallOptions;

describe("wrong options of a call", () => {
  const KEY = "their field unique_request_id";
  it.each([
    [7, "options must be an object of options"],
    [null, "options must be an object of options"],
    [{ timeout: 5 }, "options.timeout is not a known name (did you mean timeoutMs?)"],
    [{ maxAttemps: 5 }, "options.maxAttemps is not a known name (did you mean maxAttempts?)"],
    [{ retries: 5 }, "(known: timeoutMs, maxAttempts, headers, priority, isResend, signal)"],
    [{ timeoutMs: 0 }, "options.timeoutMs must be a whole number from 1"],
    [{ timeoutMs: "5s" }, "options.timeoutMs must be a whole number from 1"],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, "options.timeoutMs must be a whole number from 1"],
    [{ maxAttempts: 101 }, "options.maxAttempts must be a whole number from 1 to 100"],
    [{ signal: "now" }, "options.signal must be an AbortSignal"],
    [{ signal: null }, "options.signal must be an AbortSignal"],
    [{ isResend: "no" }, "options.isResend must be true or false"],
    [{ headers: "a: b" }, "options.headers must be an object"],
    [{ headers: new Headers({ a: "b" }) }, "options.headers must be an object"],
    [{ headers: new Map([["a", "b"]]) }, "options.headers must be an object"],
    [{ headers: { "x-auth-token": "Bearer t" } }, "x-auth-token is set by the client itself"],
    [{ headers: { "X-API-Key": "k" } }, "X-API-Key is set by the client itself"],
    [{ headers: { Host: "other.example" } }, "Host is set by the client itself"],
    [{ headers: { "Content-Length": "0" } }, "Content-Length is set by the client itself"],
    [{ headers: { "transfer-encoding": "chunked" } }, "is set by the client itself"],
    [{ headers: { "a b": "c" } }, "options.headers.a b is not a valid name for an HTTP header"],
    [
      { headers: { a: "b\r\nx-auth-token: t" } },
      "options.headers.a must be a string that is valid in a header",
    ],
    [{ headers: { a: 7 } }, "options.headers.a must be a string that is valid in a header"],
    [{ headers: { "Idempotency-Key": "k" } }, KEY],
    [{ headers: { "X-Idempotency-Key": "k" } }, KEY],
    [{ headers: { idempotencyKey: "k" } }, KEY],
    [{ headers: { X_Idempotency_Key: "k" } }, KEY],
    [{ idempotencyKey: "k" }, KEY],
  ])("%j are refused by name, and nothing is sent", async (options, fault) => {
    await using server = await startServer(() => answers.ping);
    await using client = clientFor(server.url);
    const error = await failureOf(client.ping({}, untyped(options)));
    expect(error).toMatchObject({ _tag: "InvalidRequest", operation: "ping", carriedOut: "no" });
    expect(error.message).toContain(fault);
    expect(error.message).toContain("ping was not sent.");
    expect(error.message).not.toContain("Bearer t");
    expect(server.connections()).toBe(0);
  });

  it("are refused by streams and by the client for Effect, too", async () => {
    await using server = await startServer(() => answers.ping);
    await using client = clientFor(server.url);
    const stream = client.streams.listPayouts({}, untyped({ isResend: true }));
    const first = stream[Symbol.asyncIterator]().next();
    expect((await failureOf(first)).message).toContain("options.isResend is not a known name");
    const calling = PaymentsClient.use((effects) =>
      Effect.flip(effects.ping({}, untyped({ signal: AbortSignal.abort() }))),
    );
    const error = await Effect.runPromise(
      Effect.provide(calling, PaymentsClient.layer(settingsFor(server.url))),
    );
    expect(error.message).toContain("options.signal is not a known name");
    expect(server.connections()).toBe(0);
  });
});

it("a call sends the request as it was: a program may use the object again at once", async () => {
  await using server = await startServer(() => answers.createPayout);
  // The first call of a client waits for its modules.
  await using client = clientFor(server.url);
  const request = { ...requests.createPayout };
  const calls = ["1.00", "2.00"].map((amount) =>
    client.createPayout(Object.assign(request, { amount })),
  );
  await Promise.all(calls);
  const amounts = server.requests.map(
    ({ body }) => (JSON.parse(body) as { amount: string }).amount,
  );
  expect(amounts.toSorted()).toStrictEqual(["1.00", "2.00"]);
});

describe("maxAttempts of a call", () => {
  it.each([1, 2, 6])("%d: as many sends, whatever the client has", async (maxAttempts) => {
    await using server = await startServer(unavailable);
    await using client = clientFor(server.url);
    await failureOf(client.retrieveBalance({ currency: "USD" }, { maxAttempts }));
    expect(server.requests).toHaveLength(maxAttempts);
  });

  it("does not send again what may have been carried out and has no key", async () => {
    await using server = await startServer(() => ({ status: 500, body: "" }));
    await using client = clientFor(server.url);
    for (const name of ["createPayout", "createCardholder", "createBeneficiary"] as const) {
      const before = server.requests.length;
      const options = { maxAttempts: 100 };
      const error = await failureOf(anyOperation(client, name)(requests[name], options));
      expect(error).toMatchObject({ _tag: "OutcomeUnknown", carriedOut: "unknown" });
      expect(server.requests.length - before).toBe(1);
    }
  });
});

describe("timeoutMs of a call", () => {
  it("ends a send: the outcome of a write is unknown, a read was not carried out", async () => {
    await using server = await startServer((received, n) =>
      n === 0 ? answers.ping : never(received, n),
    );
    await using client = clientFor(server.url);
    await client.ping();
    const [write, read] = await Promise.all([
      failureOf(client.freezeCard({ card_id: "card-1" }, { timeoutMs: 3_000 })),
      failureOf(client.retrieveBalance({ currency: "USD" }, { timeoutMs: 3_000 })),
    ]);
    expect(write).toMatchObject({ _tag: "OutcomeUnknown", carriedOut: "unknown" });
    expect(read).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    // Nothing was left of the time for another send.
    expect(server.requests).toHaveLength(3);
  });

  it("ends the wait for a sign-in: nothing was sent", async () => {
    await using server = await startServer(() => answers.ping, never);
    await using client = clientFor(server.url);
    const error = await failureOf(client.freezeCard({ card_id: "card-1" }, { timeoutMs: 50 }));
    expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    expect(error.message).toContain(
      "freezeCard was not sent: the call's limit of 50 ms had passed",
    );
    expect(server.requests).toHaveLength(0);
  });

  it("ends the wait of a rate limit: nothing was sent", async () => {
    await using server = await startServer(() => answers.ping);
    await using client = clientFor(server.url, { requestsPerSecond: 0.1 });
    await client.ping();
    const error = await failureOf(client.freezeCard({ card_id: "card-1" }, { timeoutMs: 50 }));
    expect(error).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    expect(server.requests).toHaveLength(1);
  });

  it("begins no wait that it does not outlast: the error is that of the last send", async () => {
    await using server = await startServer(() => ({
      ...refusal("busy", 429),
      headers: { "retry-after": "15" },
    }));
    await using client = clientFor(server.url);
    const error = await failureOf(
      client.retrieveBalance({ currency: "USD" }, { timeoutMs: 10_000 }),
    );
    expect(error).toMatchObject({ _tag: "RateLimited", retryAfter: 15_000 });
    expect(server.requests).toHaveLength(1);
  });

  it("leaves an earlier send in doubt", async () => {
    await using server = await startServer((_, n) =>
      n === 0
        ? { status: 500, body: "" }
        : { ...refusal("busy", 429), headers: { "retry-after": "15" } },
    );
    await using client = clientFor(server.url, {
      assumptions: { notCarriedOutStatuses: [429] },
    });
    const error = await failureOf(client.freezeCard({ card_id: "card-1" }, { timeoutMs: 10_000 }));
    expect(error).toMatchObject({ _tag: "OutcomeUnknown", carriedOut: "unknown" });
    expect(server.requests).toHaveLength(2);
  });

  it("is no limit of other calls", async () => {
    await using server = await startServer(() => answers.ping);
    await using client = clientFor(server.url);
    expect(await client.ping({}, { timeoutMs: 5_000 })).toStrictEqual({ message: "pong" });
    expect(await client.ping()).toStrictEqual({ message: "pong" });
  });
});

describe("headers of a call", () => {
  it("go with each of its sends, and with no sign-in and no other call", async () => {
    await using server = await startServer((_, n) =>
      n === 0 ? { status: 503, body: "" } : answers.ping,
    );
    await using client = clientFor(server.url);
    await client.ping({}, { headers: { traceparent: "00-1-2-01", "X-Tenant": "seven" } });
    await client.ping();
    const sent = server.requests.map(({ headers }) => [
      headers["traceparent"],
      headers["x-tenant"],
    ]);
    const given = ["00-1-2-01", "seven"];
    expect(sent).toStrictEqual([given, given, [undefined, undefined]]);
    expect(server.signIns[0]?.headers).not.toHaveProperty("traceparent");
    expect(server.requests[0]?.headers).toMatchObject({
      "x-client-id": "client-7",
      "x-auth-token": "Bearer token-1",
    });
  });

  it("that carry secrets are masked where the service repeats them", async () => {
    await using server = await startServer(() => refusal("no access for gateway-pass-1234"));
    await using client = clientFor(server.url);
    const headers = { authorization: "gateway-pass-1234", "x-tenant": "seven" };
    const error = await failureOf(client.ping({}, { headers }));
    expect(error).toMatchObject({ reason: "no access for [redacted]" });
  });

  it("are options of the client for Effect, and of its streams, too", async () => {
    await using server = await startServer(() =>
      success({ total_item: 0, total_page: 0, item_list: [] }),
    );
    await using client = clientFor(server.url);
    const headers = { traceparent: "00-1-2-01" };
    for await (const _ of client.streams.listPayouts({}, { headers })) expect.unreachable();
    const calling = PaymentsClient.use((effects) =>
      anyEffect(effects, "listPayouts")({ page_num: 1, page_size: 1 }, { headers }),
    );
    await Effect.runPromise(Effect.provide(calling, PaymentsClient.layer(settingsFor(server.url))));
    expect(server.requests.map((sent) => sent.headers["traceparent"])).toStrictEqual([
      "00-1-2-01",
      "00-1-2-01",
    ]);
  });
});

describe("withResponse", () => {
  it("answers the data with status and headers, those with secrets masked", async () => {
    await using server = await startServer(() => ({
      ...answers.ping,
      headers: {
        "x-request-id": "1234567890",
        "set-cookie": "session=abcdef",
        "x-seen": "token-1 by key-of-the-test",
      },
    }));
    await using client = clientFor(server.url);
    const { data, headers, status } = await client.withResponse.ping();
    expect({ data, status }).toStrictEqual({ data: { message: "pong" }, status: 200 });
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "set-cookie": "[redacted]",
      "x-request-id": "1234567890",
      "x-seen": "[redacted] by [redacted]",
    });
  });

  it("is of the last response of the call, with the same options and errors", async () => {
    await using server = await startServer((_, n) =>
      n === 0
        ? { status: 503, headers: { "x-request-id": "first" } }
        : { ...answers.ping, status: 202, headers: { "x-request-id": "second" } },
    );
    await using client = clientFor(server.url);
    const { headers, status } = await client.withResponse.ping(
      {},
      { headers: { "x-tenant": "7" } },
    );
    expect(status).toBe(202);
    expect(headers["x-request-id"]).toBe("second");
    expect(server.requests[1]?.headers["x-tenant"]).toBe("7");
    const wrong = client.withResponse.retrieveBalance({ currency: "" });
    expect(await failureOf(wrong)).toMatchObject({ _tag: "InvalidRequest" });
  });

  it("is of the client for Effect, too", async () => {
    await using server = await startServer(() => answers.ping);
    const calling = PaymentsClient.use((client) => client.withResponse.ping());
    expect(
      await Effect.runPromise(
        Effect.provide(calling, PaymentsClient.layer(settingsFor(server.url))),
      ),
    ).toMatchObject({ data: { message: "pong" }, status: 200 });
  });
});
