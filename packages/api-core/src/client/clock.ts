import type * as Clock from "effect/Clock";
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import type * as Fiber from "effect/Fiber";

/** Milliseconds of the clock that nobody sets: for durations, never for a date. */
export const monotonicMs = (clock: Clock.Clock): number =>
  Number(clock.monotonicTimeNanosUnsafe()) / 1e6;

/**
 * Calls a function after some milliseconds of a clock, unless the fiber is interrupted before: a fiber that only sleeps costs a
 * tenth of a race.
 */
export const callAfter = (clock: Clock.Clock, ms: number, call: () => void): Fiber.Fiber<void> =>
  Effect.runFork(Effect.andThen(clock.sleep(Duration.millis(ms)), Effect.sync(call)));
