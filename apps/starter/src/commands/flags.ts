import { Argument, Flag } from "effect/cli";

/** One JSON object on standard output, everything else on standard error. */
export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one JSON object, for programs"),
  Flag.withDefault(false),
);

/** The file that holds the input of a run. */
export const file = Flag.String("file").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription("The input, a JSON file; - reads standard input"),
);

/** The business key of a run. */
export const id = Flag.String("id").pipe(
  Flag.withMetavar("ID"),
  Flag.withDescription("Workflow id; default: made from the input"),
  Flag.optional,
);

/** Whether to await the end of a run. */
export const wait = Flag.Boolean("wait").pipe(
  Flag.withDescription("Await the end, showing progress"),
  Flag.withDefault(false),
);

/** The workflow id of an existing run. */
export const runId = Argument.String("ID").pipe(Argument.withDescription("Workflow id of the run"));

/** Who acts; kept where the act is. */
export const by = Flag.String("by").pipe(
  Flag.withMetavar("NAME"),
  Flag.withDescription("Who decides; it is kept"),
);

/** Who starts a run. */
export const startedBy = Flag.String("by").pipe(
  Flag.withMetavar("NAME"),
  Flag.withDescription("Who starts it; default: this machine's user"),
  Flag.optional,
);
