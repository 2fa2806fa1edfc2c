import { Clock, Effect } from "effect";

/**
 * Make a clock of a time that is asked for, which may take a while to answer. It never goes back: answers to
 * requests that came at once may come in another order. Durations are those of the computer's clock.
 *
 * @param now milliseconds since 1970.
 */
export const clockOf = (now: () => number | Promise<number>): Clock.Clock => {
  const computer = Clock.Clock.defaultValue();
  let latest = 0;
  const nanos = () => BigInt(Math.floor(latest)) * 1_000_000n;
  const currentTimeMillis = Effect.promise(async () => {
    latest = Math.max(latest, await now());
    return latest;
  });
  return {
    currentTimeMillis,
    currentTimeMillisUnsafe: () => latest,
    currentTimeNanos: Effect.map(currentTimeMillis, nanos),
    currentTimeNanosUnsafe: nanos,
    monotonicTimeNanos: computer.monotonicTimeNanos,
    monotonicTimeNanosUnsafe: () => computer.monotonicTimeNanosUnsafe(),
    sleep: (duration) => computer.sleep(duration),
  };
};
