import { Result } from "effect";
import { describe, expect, it } from "vitest";
import { makeClientOptions } from "../../src/client/config.ts";
import { Unavailable } from "../../src/client/errors.ts";
import { failed } from "../../src/client/outcomes.ts";
import { nextStep } from "../../src/client/retry.ts";
import { retryAfterMs } from "../../src/client/send.ts";
import { operation } from "../../src/contract.ts";
import { answers } from "../support/responses.ts";
import { clientFor, failureOf, settingsFor } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { type Reply, startServer } from "../support/server.ts";

const now = Date.parse("2026-11-21T10:00:00Z");
const DAY = 86_400_000;

describe("Retry-After", () => {
  it.each([
    ["0", 0],
    ["1", 1000],
    ["120", 120_000],
    [" 5 ", 5000],
    ["0.5", 500],
    ["0.0001", 1],
    ["Sat, 21 Nov 2026 10:00:07 GMT", 7000],
    ["2026-11-21T10:00:07Z", 7000],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 120_000],
    ["99999999999999999999", DAY],
    // In the past.
    ["Sat, 21 Nov 2026 09:00:00 GMT", undefined],
    ["-5", undefined],
    ["soon", undefined],
    ["", undefined],
    ["Infinity", undefined],
  ])("%j is %s", (header, milliseconds) => {
    expect(retryAfterMs(header, now)).toBe(milliseconds);
  });

  it("that is a date has a bounded wait if the response has no Date", () => {
    const dates = [-DAY, 0, 7_000, DAY].map((ahead) => new Date(now + ahead).toUTCString());
    expect(dates.map((date) => retryAfterMs(date, undefined))).toEqual(Array(4).fill(30_000));
    expect(retryAfterMs("7", undefined)).toBe(7_000);
  });
});

describe("the wait between two sends", () => {
  const options = Result.getOrThrow(
    makeClientOptions(
      settingsFor("https://payments.example", {
        maxAttempts: 100,
        maxRetryWaitMs: 5000,
        retryBaseMs: 100,
      }),
    ),
  );
  const error = new Unavailable({ operation: "ping", carriedOut: "no", message: "" });
  const pause = (tries: number, random: number, waitMs?: number) => {
    const state = { called: operation("ping"), tries, hasFreshToken: false, isInDoubt: false };
    const next = nextStep(failed(error, "always", { waitMs }), state, options, random);
    return next.isAgain ? next.waitMs : undefined;
  };

  it("doubles, with full jitter, up to the longest", () => {
    expect([1, 2, 3, 4].map((attempt) => pause(attempt, 1))).toStrictEqual([100, 200, 400, 800]);
    expect([1, 2, 3, 4].map((attempt) => pause(attempt, 0))).toStrictEqual([0, 0, 0, 0]);
    expect(pause(3, 0.5)).toBe(200);
    expect(pause(99, 1)).toBe(5000);
  });

  it("is never shorter than the service asks for, and never longer than the longest", () => {
    expect(pause(1, 0, 3000)).toBe(3000);
    expect(pause(1, 1, 3000)).toBe(3100);
    expect(pause(5, 1, 4900)).toBe(5000);
  });
});

describe("a service that asks to wait", () => {
  const answering = (first: Reply) => startServer((_, n) => (n === 0 ? first : answers.ping));

  it.each([
    ["429", { status: 429, headers: { "retry-after": "0.08" } }],
    ["503 of a read", { status: 503, headers: { "retry-after": "0.08" } }],
  ])("is obeyed after %s", async (_, first) => {
    await using server = await answering(first);
    await using client = clientFor(server.url);
    const began = performance.now();
    await client.ping();
    expect(performance.now() - began).toBeGreaterThanOrEqual(79);
    expect(server.requests).toHaveLength(2);
  });

  it("longer than the longest wait ends the call with what it asked for", async () => {
    await using server = await answering({ status: 429, headers: { "retry-after": "21" } });
    await using client = clientFor(server.url);
    expect(await failureOf(client.createPayout(requests.createPayout))).toMatchObject({
      _tag: "RateLimited",
      operation: "createPayout",
      carriedOut: "no",
      retryAfter: 21_000,
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([-DAY, 0, DAY])("by a date is obeyed by its own clock: %i ms ahead", async (ahead) => {
    const [date, until] = [0, 40_000].map((more) =>
      new Date(Date.now() + ahead + more).toUTCString(),
    );
    const headers = { date: date!, "retry-after": until! };
    await using server = await answering({ status: 429, headers });
    await using client = clientFor(server.url);
    const { message } = await failureOf(client.ping());
    expect(message).toBe("ping was rejected: too many requests; try again in 40s.");
  });

  it("without saying how long is given a second", async () => {
    await using server = await answering({ status: 429, headers: { "retry-after": "a while" } });
    await using client = clientFor(server.url, { maxAttempts: 1 });
    expect(await failureOf(client.ping())).toMatchObject({ _tag: "RateLimited", retryAfter: 1000 });
  });
});

it("sends as often as it may, and no more", async () => {
  for (const maxAttempts of [1, 2, 5]) {
    await using server = await startServer(() => ({ status: 502 }));
    await using client = clientFor(server.url, { maxAttempts });
    await failureOf(client.retrieveBalance({ currency: "USD" }));
    expect(server.requests).toHaveLength(maxAttempts);
  }
});
