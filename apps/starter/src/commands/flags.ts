import { Argument, Flag } from "effect/cli";

/** One JSON object on standard output, everything else on standard error. */
export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one JSON object, for programs"),
  Flag.withDefault(false),
);

/** A text that may be left out. */
export const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.optional,
  );

/** Something that is off unless it is wanted. */
export const on = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false));

/** The workflow id of a run, or the id of a batch. */
export const id = Argument.String("ID").pipe(
  Argument.withDescription("Workflow id of a run, or id of a batch"),
);

/** Who acts. */
export const by = text("by", "NAME", "Your name (recorded); default: this machine's user");

/** Why. */
export const reason = text("reason", "WHY", "Reason (recorded)");

/** The run that a person has seen, who acts on it. */
export const ifRun = text("if-run", "RUN", "Refuse if a newer run exists");

/** Does not ask. */
export const yes = on("yes", "Do not ask for confirmation");

/** The state of the run becomes the exit code. */
export const exitStatus = on("exit-status", "Put the run's state into the exit code");
