import { Context, Effect, Layer, Random } from "effect";
import type { FaultKind, FaultOrder, OrderedFault } from "./fault.ts";

/** The faults that were ordered. */
export class Faults extends Context.Service<
  Faults,
  {
    readonly add: (order: FaultOrder) => Effect.Effect<void>;
    readonly clear: Effect.Effect<void>;
    /** Every fault since the last `clear`, those that are used up too. */
    readonly list: Effect.Effect<ReadonlyArray<OrderedFault>>;
    /** The fault that strikes a request to `operation` now, if any; it counts as fired. */
    readonly strike: (operation: string) => Effect.Effect<FaultOrder | undefined>;
    /** The fault that says how a repeated key is answered now, if any; it counts as fired. */
    readonly strikeRepeat: (operation: string) => Effect.Effect<FaultOrder | undefined>;
  }
>()("@durable-payments/simulator/Faults") {
  /** Keeps the faults of one simulator; `seed` decides where those with a probability strike. */
  static readonly layer = (options: {
    readonly faults: ReadonlyArray<FaultOrder>;
    readonly seed: number;
  }) =>
    Layer.effect(
      Faults,
      Effect.gen(function* () {
        const random = yield* Random.Random;
        let ordered: Array<{ readonly order: FaultOrder; left: number; fired: number }> = [];

        const add = (order: FaultOrder) => {
          const byDefault =
            order.probability !== undefined || isAboutRepeats(order.kind) ? Infinity : 1;
          ordered.push({ order, left: order.times ?? byDefault, fired: 0 });
        };
        const struck = (candidates: typeof ordered, operation: string) => {
          for (const fault of candidates) {
            const { operation: only, probability } = fault.order;
            if (fault.left === 0) continue;
            if (only === undefined ? operation === "signIn" : operation !== only) continue;
            if (probability !== undefined && random.nextDoubleUnsafe() >= probability) continue;
            fault.left -= 1;
            fault.fired += 1;
            return fault.order;
          }
          return undefined;
        };
        options.faults.forEach(add);

        return Faults.of({
          add: (order) => Effect.sync(() => add(order)),
          clear: Effect.sync(() => {
            ordered = [];
          }),
          list: Effect.sync(() => ordered.map(({ fired, order }) => ({ ...order, fired }))),
          strike: (operation) =>
            Effect.sync(() =>
              struck(
                ordered.filter(({ order }) => !isAboutRepeats(order.kind)),
                operation,
              ),
            ),
          // The newest order counts, as "from now on" says.
          strikeRepeat: (operation) =>
            Effect.sync(() =>
              struck(
                ordered.filter(({ order }) => isAboutRepeats(order.kind)).reverse(),
                operation,
              ),
            ),
        });
      }).pipe(Random.withSeed(options.seed)),
    );
}

const isAboutRepeats = (kind: FaultKind) => kind.startsWith("repeated-key-");
