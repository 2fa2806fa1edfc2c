import { it } from "@effect/vitest";
import { Clock, Effect, Fiber, Result } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import { type ClientSettings, PaymentsClient } from "../../src/effect.ts";
import { lookUp } from "../../src/values.ts";
import type { WireRequest, WireResponse } from "../../src/client/send.ts";
import { requests } from "../support/requests.ts";
import { answers } from "../support/responses.ts";
import { success } from "../support/server.ts";

const signIn = success({ auth_token: "token", expired_at: 4_000_000_000 });

/** Takes a while to answer, so that many are under way. */
const LATENCY_MS = 30;

/** A service that takes so many requests in each second, and refuses the others until the next one, by a date. */
const limitedTo = (perSecond: number) => {
  const log: Array<{ readonly at: number; readonly name: string; readonly isTaken: boolean }> = [];
  const send = ({ operation: { name } }: WireRequest): Effect.Effect<WireResponse> =>
    Effect.gen(function* () {
      const at = yield* Clock.currentTimeMillis;
      const second = Math.floor(at / 1000);
      const taken = log.filter((one) => one.isTaken && Math.floor(one.at / 1000) === second);
      const isTaken = name === "signIn" || taken.length < perSecond;
      if (name !== "signIn") log.push({ at, name, isTaken });
      yield* Effect.sleep(LATENCY_MS);
      if (isTaken) {
        const { body } = lookUp(answers, name) ?? signIn;
        return { status: 200, headers: {}, body: JSON.stringify(body) };
      }
      const date = httpDate(second);
      const until = httpDate(second + 1);
      return { status: 429, headers: { date, "retry-after": until }, body: "" };
    });
  return { log, send };
};

/** As in the header `Date`. */
const httpDate = (second: number): string => new Date(second * 1000).toUTCString();

const settings = { maxRetryWaitMs: 5_000 };

/** Activity slots of a worker. */
const SLOTS = 100;

/**
 * Makes payouts by some workers, which take them from one task queue as those of Temporal do: a call that is rate limited
 * gives its slot back, and any worker takes it up again when it says.
 *
 * @returns the share of the limit that was used, and how many requests were refused for each payout
 */
const payouts = (count: number, workers: number, perSecond: number) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(Date.parse("2026-11-21T00:00:00Z"));
    const { log, send } = limitedTo(perSecond);
    const waiting: Array<number> = Array.from({ length: count }, () => 0);
    let made = 0;
    const slot = ({ createPayout }: PaymentsClient["Service"]) =>
      Effect.gen(function* () {
        while (made < count) {
          const now = yield* Clock.currentTimeMillis;
          const due = waiting.findIndex((at) => at <= now);
          if (due === -1) {
            yield* Effect.sleep(50);
            continue;
          }
          waiting.splice(due, 1);
          const result = yield* Effect.result(createPayout(requests.createPayout));
          if (Result.isSuccess(result)) made += 1;
          else if (result.failure._tag === "RateLimited")
            waiting.push((yield* Clock.currentTimeMillis) + result.failure.retryAfter);
          else return yield* Effect.fail(result.failure);
        }
      });
    const worker = PaymentsClient.use((client) =>
      Effect.all(
        Array.from({ length: SLOTS }, () => slot(client)),
        { concurrency: "unbounded", discard: true },
      ),
    ).pipe(Effect.provide(PaymentsClient.layerTest(send, settings), { local: true }));
    const working = yield* Effect.forkChild(
      Effect.all(
        Array.from({ length: workers }, () => worker),
        { concurrency: "unbounded", discard: true },
      ),
    );
    while (working.pollUnsafe() === undefined) yield* TestClock.adjust(20);
    yield* Fiber.join(working);
    const seconds = ((log.at(-1)?.at ?? 0) - (log[0]?.at ?? 0)) / 1000;
    const refused = log.filter(({ isTaken }) => !isTaken).length;
    return { share: count / seconds / perSecond, refusedEach: refused / count };
  });

describe("a service that allows 5 requests a second and answers 429 beyond", () => {
  it.effect.each([1, 2])("is used, and not flooded, by %d workers", (workers) =>
    Effect.gen(function* () {
      const { refusedEach, share } = yield* payouts(300, workers, 5);
      expect(share).toBeGreaterThanOrEqual(0.8);
      expect(refusedEach).toBeLessThanOrEqual(0.2);
    }),
  );
});

/** The times at which requests that come together are sent, in order, with their operations. */
const sentBy = (
  calls: (client: PaymentsClient["Service"]) => ReadonlyArray<Effect.Effect<unknown, unknown>>,
  changes: Partial<ClientSettings>,
) =>
  Effect.gen(function* () {
    const { log, send } = limitedTo(Infinity);
    const calling = yield* PaymentsClient.use((client) =>
      Effect.all(calls(client).map(Effect.exit), { concurrency: "unbounded" }),
    ).pipe(Effect.provide(PaymentsClient.layerTest(send, changes)), Effect.forkChild);
    while (calling.pollUnsafe() === undefined) yield* TestClock.adjust(1);
    return log;
  });

describe("requestsPerSecond", () => {
  it.effect.each([1, 10, 400])("%d: never more in any second, and evenly spaced", (rate) =>
    Effect.gen(function* () {
      const n = Math.max(5, rate * 2);
      const log = yield* sentBy(({ ping }) => Array.from({ length: n }, () => ping()), {
        requestsPerSecond: rate,
        maxConnections: 1_000,
      });
      const times = log.map(({ at }) => at);
      const most = Math.max(
        ...times.map((from) => times.filter((at) => at >= from && at < from + 1000).length),
      );
      expect(log).toHaveLength(n);
      expect(most).toBeLessThanOrEqual(rate + 1);
      const took = (times.at(-1) ?? 0) - (times[0] ?? 0);
      // The rate is used, too: a timer may be late by a millisecond.
      expect(took).toBeLessThanOrEqual(((n - 1) / rate) * 1000 + n);
    }),
  );
});

it.effect("sends writes before reads, and reads for which nobody waits last", () =>
  Effect.gen(function* () {
    const log = yield* sentBy(
      (client) => [
        client.ping(),
        client.listPayers(undefined, { priority: "last" }),
        client.retrieveBalance({ currency: "USD" }),
        client.createPayout(requests.createPayout),
        client.listPayouts({ page_num: 1, page_size: 1 }, { priority: "last" }),
        client.freezeCard({ card_id: "card-1" }),
      ],
      { requestsPerSecond: 2 },
    );
    expect(log.map(({ name }) => name)).toStrictEqual([
      "createPayout",
      "freezeCard",
      "ping",
      "retrieveBalance",
      "listPayers",
      "listPayouts",
    ]);
  }),
);

it.effect("says when a call has to come back that would wait too long, and sends nothing", () =>
  Effect.gen(function* () {
    const { log, send } = limitedTo(Infinity);
    const calls = PaymentsClient.use((client) =>
      Effect.all(
        Array.from({ length: 20 }, () => Effect.result(client.createPayout(requests.createPayout))),
        { concurrency: "unbounded" },
      ),
    );
    const calling = yield* calls.pipe(
      Effect.provide(
        PaymentsClient.layerTest(send, { requestsPerSecond: 1, maxRetryWaitMs: 5_000 }),
      ),
      Effect.forkChild,
    );
    while (calling.pollUnsafe() === undefined) yield* TestClock.adjust(50);
    const errors = (yield* Fiber.join(calling)).flatMap((one) =>
      Result.isFailure(one) ? [one.failure] : [],
    );
    expect(log.length + errors.length).toBe(20);
    expect(log.length).toBeLessThanOrEqual(6);
    for (const error of errors) {
      expect(error).toMatchObject({ _tag: "RateLimited", carriedOut: "no", by: "rate" });
    }
    const waits = errors.map((error) => (error._tag === "RateLimited" ? error.retryAfter : 0));
    // One after the other, so that there is always one that waits.
    expect(new Set(waits).size).toBe(waits.length);
  }),
);

it.effect("ends a call at its own time by the test's clock alone", () =>
  Effect.gen(function* () {
    const never = () => Effect.never;
    const call = PaymentsClient.use((client) => client.ping({}, { timeoutMs: 90_000 }));
    const calling = yield* Effect.forkChild(
      Effect.flip(Effect.provide(call, PaymentsClient.layerTest(never))),
    );
    while (calling.pollUnsafe() === undefined) yield* TestClock.adjust(1_000);
    expect(yield* Fiber.join(calling)).toMatchObject({ _tag: "Unavailable", carriedOut: "no" });
    expect(yield* Clock.currentTimeMillis).toBeLessThanOrEqual(100_000);
  }),
);
