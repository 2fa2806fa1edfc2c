import { it } from "@effect/vitest";
import { Clock, Deferred, Effect, Exit, Fiber, Redacted, Result } from "effect";
import { TestClock } from "effect/testing";
import { describe, expect } from "vitest";
import { makeClientOptions } from "../../src/client/config.ts";
import { NoResponse } from "../../src/client/no-response.ts";
import { operation } from "../../src/client/operations.ts";
import { withParsing } from "../../src/client/pipeline.ts";
import type { Send, WireResponse } from "../../src/client/send.ts";
import { makeSession } from "../../src/client/session.ts";
import { settingsFor } from "../support/client.ts";

type SignIn = Effect.Effect<WireResponse, NoResponse>;

/** A session over sign-ins that are answered by hand, and when each was sent. */
const sessionOver = (answer: (n: number) => SignIn, assumptions: object = {}) =>
  Effect.gen(function* () {
    const options = Result.getOrThrow(
      makeClientOptions({ ...settingsFor("https://payments.example"), assumptions }),
    );
    const sentAt: Array<number> = [];
    const send: Send = () =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => answer(sentAt.push(now)));
    const { reject, tokenFor } = yield* makeSession(options, withParsing(send, options));
    const token = Effect.mapError(tokenFor(operation("ping")), ({ error }) => error);
    return { reject, token, text: Effect.map(token, Redacted.value), sentAt };
  });

const answered = (status: number, body: unknown, headers = {}): SignIn =>
  Effect.succeed({
    status,
    headers,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

/** `token-<n>`, with an expiry that is so many milliseconds from now, by a clock that is ahead. */
const lasting =
  (milliseconds: number, { ahead = 0, field = "expires_at", isDated = true } = {}) =>
  (n: number): SignIn =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      answered(
        200,
        {
          code: 200,
          message: "Success",
          data: { auth_token: `token-${n}`, [field]: now + ahead + milliseconds },
        },
        isDated ? { date: new Date(now + ahead).toUTCString() } : {},
      ),
    );

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
/** TestClock begins in 1970, where milliseconds would be read as seconds. */
const today = TestClock.setTime(Date.parse("2026-11-21T00:00:00Z"));

describe("one sign-in", () => {
  it.effect("100 concurrent callers share one sign-in", () =>
    Effect.gen(function* () {
      yield* today;
      const gate = yield* Deferred.make<void>();
      const session = yield* sessionOver((n) =>
        Effect.andThen(Deferred.await(gate), lasting(30 * MINUTE)(n)),
      );
      const callers = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 100 }, () => session.text),
          { concurrency: "unbounded" },
        ),
      );
      yield* Effect.yieldNow;
      yield* Deferred.succeed(gate, undefined);
      expect(new Set(yield* Fiber.join(callers))).toStrictEqual(new Set(["token-1"]));
      expect(session.sentAt).toHaveLength(1);
    }),
  );

  it.effect("the interruption of the caller that began it does not fail the others", () =>
    Effect.gen(function* () {
      yield* today;
      const begun = yield* Deferred.make<void>();
      const gate = yield* Deferred.make<void>();
      const session = yield* sessionOver((n) =>
        Deferred.succeed(begun, undefined).pipe(
          Effect.andThen(Deferred.await(gate)),
          Effect.andThen(lasting(30 * MINUTE)(n)),
        ),
      );
      const first = yield* Effect.forkChild(session.text);
      yield* Deferred.await(begun);
      const second = yield* Effect.forkChild(session.text);
      yield* Effect.yieldNow;
      yield* Fiber.interrupt(first);
      yield* Deferred.succeed(gate, undefined);
      expect(yield* Fiber.join(second)).toBe("token-1");
      expect(Exit.hasInterrupts(yield* Fiber.await(first))).toBe(true);
      expect(yield* session.text).toBe("token-1");
      expect(session.sentAt).toHaveLength(1);
    }),
  );

  it.effect("a failed sign-in fails all that wait for it, and is not kept", () =>
    Effect.gen(function* () {
      yield* today;
      const session = yield* sessionOver((n) =>
        n === 1
          ? Effect.andThen(Effect.yieldNow, Effect.fail(new NoResponse(true, "the line is cut")))
          : lasting(30 * MINUTE)(n),
      );
      const callers = yield* Effect.all(
        Array.from({ length: 10 }, () => Effect.flip(session.text)),
        { concurrency: "unbounded" },
      );
      expect(callers).toHaveLength(10);
      expect(session.sentAt).toHaveLength(1);
      expect(yield* session.text).toBe("token-2");
    }),
  );

  it.effect("one new sign-in for all whose token was rejected, and none for an older token", () =>
    Effect.gen(function* () {
      yield* today;
      const session = yield* sessionOver(lasting(30 * MINUTE));
      const old = yield* session.token;
      const renewed = yield* Effect.all(
        Array.from({ length: 100 }, () => Effect.andThen(session.reject(old), session.text)),
        { concurrency: "unbounded" },
      );
      expect(new Set(renewed)).toStrictEqual(new Set(["token-2"]));
      yield* session.reject(old);
      expect(yield* session.text).toBe("token-2");
      expect(session.sentAt).toHaveLength(2);
    }),
  );
});

describe("renewal", () => {
  const renewedAfter = (answer: (n: number) => SignIn, assumptions: object, milliseconds: number) =>
    Effect.gen(function* () {
      yield* today;
      const session = yield* sessionOver(answer, assumptions);
      yield* session.text;
      yield* TestClock.adjust(milliseconds - 1);
      expect(yield* session.text).toBe("token-1");
      yield* TestClock.adjust(1);
      expect(yield* session.text).toBe("token-2");
    });

  it.effect("comes half a minute before the expiry of a long life", () =>
    renewedAfter(lasting(30 * MINUTE), { tokenIdleSeconds: 3600 }, 29.5 * MINUTE),
  );
  it.effect("comes a tenth before the expiry of a short life", () =>
    renewedAfter(lasting(MINUTE, { field: "expired_at" }), {}, 54_000),
  );
  it.effect("comes after 10 minutes where the answer says nothing", () =>
    renewedAfter(
      (n) => answered(200, { code: 200, message: "Success", data: { auth_token: `token-${n}` } }),
      {},
      9.5 * MINUTE,
    ),
  );
  it.effect("comes after the assumed life where the answer says nothing", () =>
    renewedAfter(
      (n) => answered(200, { code: 200, message: "Success", data: { auth_token: `token-${n}` } }),
      { tokenLifetimeSeconds: 100 },
      90_000,
    ),
  );
  it.effect.each([-DAY, -20 * MINUTE, 20 * MINUTE, DAY])(
    "does not depend on a clock that is ahead: %i ms",
    (ahead) =>
      renewedAfter(lasting(20 * MINUTE, { ahead }), { tokenIdleSeconds: 3600 }, 19.5 * MINUTE),
  );
  it.effect.each([-DAY, -1_799_000, 0, DAY])(
    "comes after the assumed life where no Date shows the service's clock: %i ms",
    (ahead) => renewedAfter(lasting(30 * MINUTE, { ahead, isDated: false }), {}, 9.5 * MINUTE),
  );
  it.effect.each([-MINUTE, 1_000])(
    "comes after the assumed life where the expiry and Date are of two clocks: %i ms",
    (life) => renewedAfter(lasting(life), {}, 9.5 * MINUTE),
  );
  it.effect("comes after half an hour at the latest", () =>
    renewedAfter(lasting(DAY), { tokenIdleSeconds: 3600 }, 29.5 * MINUTE),
  );
});

describe("a token that is not used", () => {
  it.effect.each([
    [{}, 9.5 * MINUTE],
    [{ tokenIdleSeconds: 120 }, 1.8 * MINUTE],
  ] as const)("is renewed before it is used again: %o", ([assumptions, idle]) =>
    Effect.gen(function* () {
      yield* today;
      const session = yield* sessionOver(lasting(30 * MINUTE), assumptions);
      // Each use begins the time anew.
      for (let use = 0; use < 3; use++) {
        expect(yield* session.text).toBe("token-1");
        yield* TestClock.adjust(idle - 1);
      }
      expect(yield* session.text).toBe("token-1");
      yield* TestClock.adjust(idle);
      const together = Array.from({ length: 10 }, () => session.text);
      const used = yield* Effect.all(together, { concurrency: "unbounded" });
      expect(new Set(used)).toStrictEqual(new Set(["token-2"]));
      expect(session.sentAt).toHaveLength(2);
    }),
  );
});

describe("a sign-in that fails", () => {
  const failing = (answer: SignIn) =>
    Effect.gen(function* () {
      yield* today;
      const session = yield* sessionOver(() => answer);
      const error = yield* Effect.flip(session.token);
      return { error, sent: session.sentAt.length };
    });

  const cases: ReadonlyArray<readonly [string, SignIn, string]> = [
    [
      "refused in an envelope",
      answered(200, { code: 400, message: "bad key" }),
      "NotAuthenticated",
    ],
    ["refused under HTTP 400", answered(400, { code: 400, message: "bad" }), "NotAuthenticated"],
    ["refused with code 401", answered(200, { code: 401, message: "bad" }), "NotAuthenticated"],
    ["HTTP 401 without envelope", answered(401, "<html>"), "NotAuthenticated"],
    ["HTTP 403 without envelope", answered(403, ""), "NotAuthenticated"],
    ["HTTP 429", answered(429, ""), "RateLimited"],
    ["HTTP 502", answered(502, "<html>"), "Unavailable"],
    ["HTTP 404 without envelope", answered(404, "<html>"), "Unavailable"],
    ["an empty answer", answered(200, ""), "Unavailable"],
    ["no token", answered(200, { code: 200, message: "Success", data: {} }), "Unavailable"],
    ["no answer", Effect.fail(new NoResponse(true, "cut")), "Unavailable"],
    ["no connection", Effect.fail(new NoResponse(false, "connection refused")), "Unavailable"],
  ];
  it.effect.each(cases)("%s", ([, answer, tag]) =>
    Effect.gen(function* () {
      const { error, sent } = yield* failing(answer);
      // Whatever became of the sign-in: what needed it was not carried out.
      expect(error).toMatchObject({ _tag: tag, operation: "ping", carriedOut: "no" });
      expect(sent).toBe(1);
    }),
  );
});

/** Most sign-ins in any 60 seconds, both ends counted. */
const mostInAMinute = (sentAt: ReadonlyArray<number>): number =>
  Math.max(
    ...sentAt.map((from) => sentAt.filter((at) => at >= from && at <= from + MINUTE).length),
  );

describe("never more than 50 sign-ins in any 60 seconds", () => {
  const storms: ReadonlyArray<readonly [string, (n: number) => SignIn, ReadonlyArray<number>]> = [
    ["when every token is rejected at once", lasting(30 * MINUTE), [0, 50, 400]],
    ["when tokens live for a millisecond", lasting(1), [1, 200, 100]],
    ["when the credentials are refused", () => answered(200, { code: 400, message: "bad" }), [125]],
    [
      "when the service is down",
      () => Effect.fail(new NoResponse(false, "refused")),
      [0, 0, 0, 900],
    ],
    [
      "when idle minutes are followed by bursts",
      lasting(1),
      [...Array<number>(80).fill(1), 70_000],
    ],
  ];
  it.effect.each(storms)("%s", ([, answer, gaps]) =>
    Effect.gen(function* () {
      yield* today;
      const session = yield* sessionOver(answer);
      const end = (yield* Clock.currentTimeMillis) + 4 * MINUTE;
      for (let n = 0; (yield* Clock.currentTimeMillis) < end; n++) {
        const result = yield* Effect.result(session.token);
        if (Result.isSuccess(result)) yield* session.reject(result.success);
        yield* TestClock.adjust(gaps[n % gaps.length] ?? 0);
      }
      expect(mostInAMinute(session.sentAt)).toBeLessThanOrEqual(50);
      // The budget is used, not lost.
      expect(session.sentAt.length).toBeGreaterThan(90);
    }),
  );

  it.effect("says when the next one may come, and that nothing was sent", () =>
    Effect.gen(function* () {
      yield* today;
      const session = yield* sessionOver(() => answered(200, { code: 400, message: "bad" }));
      const errors = yield* Effect.forEach(Array.from({ length: 30 }), () =>
        Effect.flip(session.token),
      );
      const limited = errors.filter((error) => error._tag === "RateLimited");
      expect(limited).toHaveLength(30 - session.sentAt.length);
      expect(limited[0]).toMatchObject({ carriedOut: "no", retryAfter: 2500 });
      expect(limited[0]?.message).toContain("No sign-in was sent");
      yield* TestClock.adjust(2500);
      expect(yield* Effect.flip(session.token)).toMatchObject({ _tag: "NotAuthenticated" });
    }),
  );
});
