import type * as Clock from "effect/Clock";

/** Milliseconds of the clock that nobody sets: for durations, never for a date. */
export const monotonicMs = (clock: Clock.Clock): number =>
  Number(clock.monotonicTimeNanosUnsafe()) / 1e6;
