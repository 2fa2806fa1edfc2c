import * as Effect from "effect/Effect";
import * as RateLimiter from "effect/persistence/RateLimiter";
import type { ClientOptions } from "./config.ts";

/**
 * Spaces the requests out: evenly, as a bucket that held a second's worth would let twice as many
 * through in one second. Above one a millisecond, a few go together.
 */
export const makeRateLimiter = (
  limiter: RateLimiter.RateLimiter,
  { requestsPerSecond }: Pick<ClientOptions, "requestsPerSecond">,
): Effect.Effect<unknown> => {
  if (requestsPerSecond === 0) return Effect.void;
  const together = Math.ceil(requestsPerSecond / 1000);
  return Effect.orDie(
    RateLimiter.sleep(limiter, {
      key: "requests",
      algorithm: "token-bucket",
      limit: together,
      window: (together * 1000) / requestsPerSecond,
    }),
  );
};
