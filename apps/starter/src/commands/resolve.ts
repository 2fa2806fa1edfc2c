import { Command, Flag } from "effect/cli";
import * as Option from "effect/Option";
import { EXIT_CODES } from "../errors.ts";
import { by, json, runId } from "./flags.ts";
import { EXIT_CODES_HELP } from "./help-texts.ts";
import { runCommand } from "./run-command.ts";

const flags = {
  id: runId,
  by,
  found: Flag.KeyValuePair("found").pipe(
    Flag.withMetavar("NAME=ID"),
    Flag.withDescription("It was carried out, and this is its id"),
    Flag.optional,
  ),
  resend: Flag.Boolean("resend").pipe(
    Flag.withDescription("It was not carried out: send it again"),
    Flag.withDefault(false),
  ),
  amend: Flag.String("amend").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("Send it with these fields changed (JSON)"),
    Flag.optional,
  ),
  abandon: Flag.String("abandon").pipe(
    Flag.withMetavar("WHY"),
    Flag.withDescription("End the run"),
    Flag.optional,
  ),
  json,
};

/** `starter resolve`: gives a run that waits for a person the person's decision. */
export const resolve = Command.make("resolve", flags, ({ id, json, ...decision }) =>
  runCommand(json, async (output) => {
    const { readDecision } = await import("../input/decision.ts");
    const resolution = await readDecision({
      by: decision.by,
      found: Option.getOrUndefined(decision.found),
      resend: decision.resend,
      amend: Option.getOrUndefined(decision.amend),
      abandon: Option.getOrUndefined(decision.abandon),
    });
    const { withTemporal } = await import("../connection/temporal.ts");
    const { decide } = await import("../runs/decide.ts");
    const { commandLine } = await import("../output/command-line.ts");
    const runId = await withTemporal((temporal) => decide(temporal, id, "resolve", resolution));
    output.answer(
      { workflowId: id, runId, status: "resolved" },
      () => `The run ${id} has taken the decision. See it: ${commandLine("status", id)}`,
    );
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("Decide for a run that waits for a person"),
  Command.withDescription(
    `Decide for a run that waits for a person, by exactly one of --found (once
  for each id that is asked for), --resend, --amend and --abandon. What a run
  asks is shown by \`starter attention\`.

  ${EXIT_CODES_HELP}`,
  ),
  Command.withExamples([
    {
      command: "starter resolve invoice-2026-001 --by Ada --found payout_id=7d595adc",
      description: "It was carried out: this is it",
    },
    {
      command: "starter resolve invoice-2026-001 --by Ada --resend",
      description: "It was not: send it again",
    },
  ]),
);
