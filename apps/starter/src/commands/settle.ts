import { Command, Flag } from "effect/cli";
import * as Option from "effect/Option";
import { badUsage, EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import { actingPerson } from "./input/acting-person.ts";
import { by, expectedRunId, json, runId } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const flags = {
  id: runId,
  by,
  reason: Flag.String("reason").pipe(
    Flag.withMetavar("WHY"),
    Flag.withDescription("How it was found out; it is kept"),
  ),
  found: Flag.KeyValuePair("found").pipe(
    Flag.withMetavar("NAME=ID"),
    Flag.withDescription("It was carried out, and this is its id"),
    Flag.optional,
  ),
  notCarriedOut: Flag.Boolean("not-carried-out").pipe(
    Flag.withDescription("It was not carried out, for certain"),
    Flag.withDefault(false),
  ),
  step: Flag.String("step").pipe(
    Flag.withMetavar("STEP"),
    Flag.withDescription("Which step, where several are in doubt"),
    Flag.optional,
  ),
  expectedRunId: expectedRunId.pipe(
    Flag.withDescription("Which run of the id, as it was shown; default: the latest"),
  ),
  json,
};

/** `starter settle`: keeps what a person found out about what an ended run has sent. */
export const settle = Command.make("settle", flags, (given) =>
  runCommand(given.json, async (output) => {
    const person = actingPerson(Option.some(given.by));
    if (given.reason.trim() === "")
      throw badUsage("--reason must not be empty: write how it was found out.");
    if (Option.isSome(given.found) === given.notCarriedOut) {
      throw badUsage("Give exactly one of --found and --not-carried-out.");
    }
    const { readAccounts, withTemporal } = await import("../settings.ts");
    const accounts = await readAccounts();
    const services = await Promise.all(accounts.map(({ service }) => service()));
    const { settle: keep } = await import("@durable-payments/operations/decisions");
    const settled = await withTemporal((temporal) =>
      keep(temporal, given.id, {
        by: person,
        reason: given.reason,
        step: Option.getOrUndefined(given.step),
        found: Option.getOrUndefined(given.found),
        services,
        journals: accounts.map(({ journal }) => journal),
        expectedRunId: Option.getOrUndefined(given.expectedRunId),
      }),
    );
    const { utc } = await import("@durable-payments/protocol");
    const { wrap } = await import("../output/text.ts");
    const { argumentsOf } = await import("../output/next-operation.ts");
    const settlement = { workflowId: given.id, ...settled, status: "settled" };
    const textOf = ({
      journalNotRead,
      mayBeSentUntil,
      notConfirmed,
      retry,
      step,
      workflowId,
    }: typeof settlement) =>
      [
        wrap(
          retry === undefined
            ? `${step} of ${workflowId} is settled, and in doubt no longer. No retry goes on with the run${Option.isNone(given.found) ? ": where it is still owed, pay it by a new run" : ""}.`
            : `${step} of ${workflowId} is settled; a retry of the run goes by that.`,
        ),
        wrap(
          notConfirmed === undefined
            ? `It is as the service or the journal has it.`
            : `! It is as settled by ${person}, and not confirmed by the service: ${notConfirmed}.${Option.isNone(given.found) ? " Pay nothing in its place by another run before the service has confirmed it." : ""}`,
        ),
        ...(journalNotRead === undefined
          ? []
          : [wrap(`! The journal of sends was not asked: ${journalNotRead}.`)]),
        ...(mayBeSentUntil === undefined
          ? []
          : [
              wrap(
                `! The run has ended only just now: until ${utc(mayBeSentUntil)} a worker that does not know of it may still send ${step}, or it may be under way. Check it with the service once more after that, and settle it anew if it was carried out after all.`,
              ),
            ]),
      ].join("\n");
    output.answer(settlement, textOf, ({ retry, ...answer }) => ({
      ...answer,
      ...(retry && { retry: argumentsOf(retry) }),
    }));
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("Say what became of a send in doubt"),
  Command.withDescription(
    `Say what became of what an ended run has sent, where the run itself could not
  find it out. What is in doubt is shown by \`starter attention\`. It is kept in
  Temporal with the name and the reason; a retry of the run goes by it.

  What contradicts the journal of sends is refused, where it can be read here.
  Where PAYMENTS_* is set, a payout is looked up, too: one that the service does
  not show, or that pays something else, is refused, and so is
  --not-carried-out where the service shows one under its key.

  What a run was sending that has ended less than 90 seconds ago may still be
  sent: --not-carried-out then shows after when to check once more.

  ${EXIT_CODES_HELP}`,
  ),
  Command.withExamples([
    {
      command: "starter settle inv-1 --by Ada --reason listed --found payout_id=7d595adc",
      description: "It was carried out: this is it",
    },
    {
      command: 'starter settle inv-1 --by Ada --reason "not there" --not-carried-out',
      description: "It was not",
    },
  ]),
);
