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

/** What is kept as the reason where none was given. */
export const NO_REASON = "none given";

/** Who starts a run. */
export const startedBy = Flag.String("by").pipe(
  Flag.withMetavar("NAME"),
  Flag.withDescription("Who starts it; default: this machine's user"),
  Flag.optional,
);

/** How runs are kept from being started twice. */
export const SAME_ID_HELP = (prefix: string): string =>
  `The same id never starts a second run: it reports the run that exists, also
  when that one has ended; with another input, options left out, it is refused
  (exit code 2). When Temporal has deleted it (the namespace's
  retention after its end) the journal is asked; where that cannot be read here
  (PAYMENTS_CLIENT_ID, PAYMENTS_JOURNAL), the id is known until then only.
  Without --id the id is ${prefix}-<hash of the input>, options left out: the
  same file twice is the same run. To do the same once more on purpose, give
  it another --id.`;

/** One of the runs of a workflow id. */
export const temporalRunId = Flag.String("run-id").pipe(
  Flag.withMetavar("RUN"),
  Flag.withDescription("Which run of the id; default: the latest"),
  Flag.optional,
);

/** The run that a person has seen, who acts on it. */
export const expectedRunId = Flag.String("run-id").pipe(
  Flag.withMetavar("RUN"),
  Flag.withDescription("Only if this is the latest run of the id still"),
  Flag.optional,
);

/** Who acts on a run. */
export const acting = Flag.String("by").pipe(
  Flag.withMetavar("NAME"),
  Flag.withDescription("Who does it; default: this machine's user"),
  Flag.optional,
);

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
