import { Argument, Flag } from "effect/cli";

/** The workflow id of a batch. */
export const batch = Argument.String("BATCH").pipe(
  Argument.withDescription("Id of the batch: payouts/…"),
);

/** Where what became of each row is written. */
export const result = Flag.String("result").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription("Write a line for each row: .csv or .jsonl"),
  Flag.optional,
);

/** Why a batch is paused or ended. */
export const why = Flag.String("why").pipe(
  Flag.withMetavar("WHY"),
  Flag.withDescription("Why; it is kept"),
  Flag.optional,
);
