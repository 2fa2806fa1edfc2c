import { Clock, Context, Effect, Layer, Queue, Random } from "effect";
import { createHash } from "node:crypto";
import type { Temperament } from "./temperament.ts";

/** The temperament of one simulator, and the random numbers that it decides by. */
export class TemperamentInForce extends Context.Service<
  TemperamentInForce,
  {
    readonly current: () => Temperament;
    /** Puts another temperament in place of the one in force; an outage counts from now. */
    readonly set: (temperament: Temperament) => Effect.Effect<void>;
    /** Every temperament that was put in force, the first one included. */
    readonly changes: Queue.Dequeue<Temperament>;
    /** Milliseconds since 1970 when the temperament in force was set. */
    readonly since: () => number;
    /** Whether an event that has this share of all happens now. */
    readonly happens: (share: number | undefined) => boolean;
    /** A whole number from 0 to below `count`. */
    readonly pick: (count: number) => number;
    /** A number from 0 to below 1 that is always the same for the same purpose and id. */
    readonly lot: (purpose: string, id: string) => number;
  }
>()("@durable-payments/simulator/TemperamentInForce") {
  /** `seed` decides all that a temperament leaves to chance. */
  static readonly layer = (options: { readonly temperament: Temperament; readonly seed: number }) =>
    Layer.effect(
      TemperamentInForce,
      Effect.gen(function* () {
        const random = yield* Random.Random;
        let current = options.temperament;
        let since = yield* Clock.currentTimeMillis;
        const changes = yield* Queue.unbounded<Temperament>();
        yield* Queue.offer(changes, current);
        return TemperamentInForce.of({
          current: () => current,
          set: Effect.fnUntraced(function* (temperament) {
            since = yield* Clock.currentTimeMillis;
            current = temperament;
            yield* Queue.offer(changes, temperament);
          }),
          changes,
          since: () => since,
          happens: (share) => share !== undefined && random.nextDoubleUnsafe() < share,
          pick: (count) => Math.floor(random.nextDoubleUnsafe() * count),
          lot: (purpose, id) =>
            createHash("sha256")
              .update(`${options.seed} ${purpose} ${id}`)
              .digest()
              .readUInt32BE() /
            2 ** 32,
        });
      }).pipe(Random.withSeed(`temperament ${options.seed}`)),
    );
}

/** See {@link TemperamentInForce}. */
export type TemperamentInForceShape = TemperamentInForce["Service"];
