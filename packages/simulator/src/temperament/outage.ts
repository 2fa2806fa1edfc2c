import { Clock, Effect } from "effect";
import type { OUTAGES } from "./temperament.ts";
import type { TemperamentInForceShape } from "./temperaments-in-force.ts";

/** The outage that the temperament in force has now, if any. */
export const outageNow = ({
  current,
  since,
}: TemperamentInForceShape): Effect.Effect<(typeof OUTAGES)[number] | undefined> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const { outage } = current();
    if (outage === undefined) return undefined;
    const at = now - since() - outage.afterMs;
    return at >= 0 && at < outage.forMs ? outage.kind : undefined;
  });
