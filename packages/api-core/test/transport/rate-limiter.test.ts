import { it } from "@effect/vitest";
import { Clock, Effect, Fiber, Layer } from "effect";
import { RateLimiter } from "effect/persistence";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import { makeRateLimiter } from "../../src/client/retry-policy.ts";
import { answers } from "../support/responses.ts";
import { clientFor } from "../support/client.ts";
import { startServer } from "../support/server.ts";

/** When each of `n` requests that come together is let through, in milliseconds. */
const letThrough = (requestsPerSecond: number, n: number) =>
  Effect.gen(function* () {
    const pace = makeRateLimiter(yield* RateLimiter.RateLimiter, { requestsPerSecond });
    const passing = yield* Effect.forkChild(
      Effect.all(
        Array.from({ length: n }, () => Effect.andThen(pace, Clock.currentTimeMillis)),
        { concurrency: "unbounded" },
      ),
    );
    yield* TestClock.adjust("1 hour");
    return (yield* Fiber.join(passing)).toSorted((a, b) => a - b);
  }).pipe(Effect.provide(RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory))));

describe("requests a second", () => {
  it.effect.each([0.5, 1, 2.5, 10, 400, 1000, 2500])("%f: never more", (rate) =>
    Effect.gen(function* () {
      const n = Math.max(5, rate * 3);
      const at = yield* letThrough(rate, n);
      const most = Math.max(
        ...at.map((from) => at.filter((time) => time >= from && time < from + 1000).length),
      );
      expect(most).toBeLessThanOrEqual(Math.ceil(rate) + Math.ceil(rate / 1000) - 1);
      // The rate is used, too.
      expect(at.at(-1)).toBeLessThanOrEqual(Math.ceil(((n - 1) / rate) * 1000));
    }),
  );

  it.effect("0: no limit", () =>
    Effect.gen(function* () {
      expect(new Set(yield* letThrough(0, 100))).toStrictEqual(new Set([0]));
    }),
  );
});

it("spaces out the requests of a client, repeats included", async () => {
  await using server = await startServer((_, n) => (n === 0 ? { status: 502 } : answers.ping));
  await using client = clientFor(server.url, { requestsPerSecond: 50, retryBaseMs: 0 });
  const began = performance.now();
  await Promise.all([client.ping(), client.ping(), client.ping()]);
  expect(server.requests).toHaveLength(4);
  expect(performance.now() - began).toBeGreaterThanOrEqual(3 * 20 - 2);
});
