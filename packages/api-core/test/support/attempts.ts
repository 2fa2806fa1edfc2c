import { Effect, Metric } from "effect";
import type { OperationName } from "../../src/effect.ts";

/** What the client's own histogram says of an operation's requests that ended so. */
export const attemptsOf = (operation: OperationName, outcome: string): number =>
  Effect.runSync(Metric.snapshot)
    .filter(
      ({ attributes, id }) =>
        id === "payments_request_duration_seconds" &&
        attributes?.["operation"] === operation &&
        attributes["outcome"] === outcome,
    )
    .reduce((sum, { state }) => sum + ("count" in state ? Number(state.count) : 0), 0);
