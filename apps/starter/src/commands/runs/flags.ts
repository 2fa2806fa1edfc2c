import { Flag } from "effect/cli";

/** One of the runs of a workflow id. */
export const temporalRunId = Flag.String("run-id").pipe(
  Flag.withMetavar("RUN"),
  Flag.withDescription("Which run of the id; default: the latest"),
  Flag.optional,
);
