import { Flag } from "effect/cli";

/** One of the runs of a workflow id. */
export const temporalRunId = Flag.String("run-id").pipe(
  Flag.withMetavar("RUN"),
  Flag.withDescription("Which run of the id; default: the latest"),
  Flag.optional,
);

/** Who acts on a run. */
export const acting = Flag.String("by").pipe(
  Flag.withMetavar("NAME"),
  Flag.withDescription("Who does it; default: this machine's user"),
  Flag.optional,
);
