import { Argument, Command, Flag } from "effect/cli";
import * as Option from "effect/Option";
import { badUsage, EXIT_CODES } from "../../exit-codes.ts";
import { plainCommand } from "../../output/command-line.ts";
import type { Output } from "../../output/output.ts";
import { acting, expectedRunId, json, NO_REASON, wait } from "../flags.ts";
import { runCommand } from "../run-command.ts";

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.optional,
  );

const flags = {
  id: Argument.String("ID").pipe(
    Argument.withDescription("Workflow id of the run"),
    Argument.optional,
  ),
  from: text("from", "STEP", "Go on from this step; default: the failed one"),
  amend: text("amend", "FILE", "Change of the input, in its shape (JSON)"),
  reason: text("reason", "WHY", "Why; it is kept"),
  by: acting,
  dryRun: Flag.Boolean("dry-run").pipe(
    Flag.withDescription("Show what would be done, and do nothing"),
    Flag.withDefault(false),
  ),
  failed: Flag.Boolean("failed").pipe(
    Flag.withDescription("Retry all that failed, instead of one"),
    Flag.withDefault(false),
  ),
  overrule: Flag.Boolean("overrule").pipe(
    Flag.withDescription("Go on with a run that a person has ended"),
    Flag.withDefault(false),
  ),
  expectedRunId,
  type: text("type", "TYPE", "… of this workflow type"),
  stage: text("stage", "STAGE", "… at this step"),
  since: text("since", "AGE", "… since: 7d, 12h, 2026-11-01"),
  rate: Flag.Int("rate").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("Runs a second, default 5"),
    Flag.withDefault(5),
  ),
  yes: Flag.Boolean("yes").pipe(
    Flag.withDescription("Do not ask before many are retried"),
    Flag.withDefault(false),
  ),
  wait: wait.pipe(Flag.withDescription("… and await how they end")),
  json,
};

type Given = Command.Command.Config.Infer<typeof flags>;

/** What every retry takes. */
const readFlags = async (given: Given) => {
  const { readAssumptions } = await import("../../settings.ts");
  const { actingPerson } = await import("../input/acting-person.ts");
  const { readJson } = await import("../input/read-json.ts");
  return {
    by: actingPerson(given.by),
    reason: Option.getOrElse(given.reason, () => NO_REASON),
    from: Option.getOrUndefined(given.from),
    patch: Option.isNone(given.amend) ? undefined : await readJson(given.amend.value),
    assumptions: await readAssumptions(),
  };
};

const retryOne = async (output: Output, id: string, given: Given): Promise<number> => {
  if (Option.isSome(given.type) || Option.isSome(given.stage) || Option.isSome(given.since)) {
    throw badUsage("--type, --stage and --since go with --failed, not with an ID.");
  }
  if (given.wait)
    throw badUsage(`--wait goes with --failed; follow one: ${plainCommand("watch", id)}`);
  if (given.overrule && (Option.isNone(given.by) || Option.isNone(given.reason))) {
    throw badUsage("--overrule needs --by and --reason: both are kept, with what is overruled.");
  }
  const retryFlags = {
    ...(await readFlags(given)),
    expectedRunId: Option.getOrUndefined(given.expectedRunId),
    decisions: given.overrule ? ("overrule" as const) : ("keep" as const),
  };
  const { withTemporal } = await import("../../settings.ts");
  const { planRetryOf, retryRun } = await import("@durable-payments/operations/retry");
  const { retryAnswer, retryText } = await import("../../output/retry-text.ts");
  const retried = await withTemporal(async (temporal) => {
    if (!given.dryRun) return await retryRun(temporal, id, retryFlags);
    const { plan, run } = await planRetryOf(temporal, id, retryFlags);
    return { workflowId: id, endedRunId: run.runId, runId: null, plan };
  });
  output.answer(retried, retryText, retryAnswer);
  return EXIT_CODES.done;
};

const retryMany = async (output: Output, given: Given): Promise<number> => {
  if (Option.isNone(given.reason))
    throw badUsage("Give the reason, by --reason: it is kept in each run.");
  if (given.overrule) throw badUsage("--overrule goes with one ID, not with --failed.");
  if (Option.isSome(given.expectedRunId))
    throw badUsage("--run-id goes with one ID, not with --failed.");
  if (given.rate < 1) throw badUsage("--rate must be 1 or more.");
  const { readSince } = await import("../input/since.ts");
  const retryFlags = await readFlags(given);
  const filter = {
    standing: ["failed"] as const,
    type: Option.getOrUndefined(given.type),
    stage: Option.getOrUndefined(given.stage),
    since: Option.getOrUndefined(Option.map(given.since, (since) => readSince(since))),
  };
  const { withTemporal } = await import("../../settings.ts");
  const { visible } = await import("../../output/visible.ts");
  const { bar, retriesAnswer, retriesText, toRetryText } =
    await import("../../output/retry-text.ts");
  const { canAsk, confirm } = await import("../../output/confirm.ts");
  const {
    awaitRetried,
    findRunsToRetry,
    retryMany: retryAll,
  } = await import("@durable-payments/operations/retry");
  return await withTemporal(async (temporal) => {
    const runs = await findRunsToRetry(temporal, filter);
    const found = `${runs.length} failed ${runs.length === 1 ? "run" : "runs"}`;
    output.say(toRetryText(found, visible(runs), temporal.settings));
    if (runs.length > 0 && !given.yes && !given.dryRun) {
      if (output.json || !canAsk()) {
        throw badUsage(
          `${found} would be retried: give --yes, or see what would be done by --dry-run.`,
        );
      }
      if (!(await confirm(`Retry ${found} in namespace "${temporal.settings.namespace}"?`)))
        throw badUsage("Nothing was done.");
    }
    const options = { ...retryFlags, isDryRun: given.dryRun, rate: given.rate };
    let retried = 0;
    output.onInterrupt = () => {
      output.live(undefined);
      output.say(
        `Interrupted after ${retried} of ${runs.length}; the same command retries the others.`,
      );
    };
    const report = await retryAll(temporal, runs, options, (done) => {
      retried = done;
      output.live(bar(done, runs.length));
    });
    let all = report;
    if (given.wait && report.retried > 0) {
      output.onInterrupt = () => {
        output.live(undefined);
        output.say(`Not waiting any longer; the ${report.retried} retried runs go on.`);
      };
      output.say(`Retried ${report.retried}; awaiting how they end.`);
      const show = (ended: number) => output.live(bar(ended, report.retried));
      all = await awaitRetried(temporal, report, show);
    }
    output.live(undefined);
    output.onInterrupt = undefined;
    output.answer(all, retriesText, retriesAnswer);
    const isBroken = all.runs.some((run) => run.state !== undefined && run.state !== "completed");
    return isBroken || all.notRetried + all.failed > 0 ? EXIT_CODES.runFailed : EXIT_CODES.done;
  });
};

/** `starter runs retry`: goes on with runs that have ended badly. */
export const retry = Command.make("retry", flags, (given) =>
  runCommand(given.json, async (output) => {
    if (Option.isSome(given.id) === given.failed) throw badUsage("Give an ID, or --failed.");
    return Option.isSome(given.id)
      ? await retryOne(output, given.id.value, given)
      : await retryMany(output, given);
  }),
).pipe(
  Command.withShortDescription("Go on with failed runs, with the same or an amended input"),
  Command.withDescription(
    `Go on with a run that failed, timed out, was cancelled or terminated, from the
  step at which it ended (or --from an earlier one): what was done before stays
  done, and nothing is sent again of which it is not known what became of it.

  --amend FILE changes the input of the steps to come. The file has the shape of
  the input, and only the fields to change; null takes a field away:
    {"cardholder": {"phone_number": "+4930123456"}}

  --dry-run shows the plan, and the --run-id by which nothing but the run that
  was planned for is retried: somebody else may have amended it meanwhile.

  --failed retries all that failed, after it has said how many there are. When
  it is interrupted, the same command goes on with the others. A retried run may
  fail again: --wait shows how each ended. A payout that the service has ended
  is left out: a retry would find it so again.

  Exit codes: 0 done, 1 some of many were not retried, or have not completed
  (--wait), 2 bad input, or it cannot be retried so, 3 cannot connect, 130
  interrupted.`,
  ),
  Command.withExamples([
    {
      command: "starter runs retry customer-4711 --amend patch.json --dry-run",
      description: "See what would be done",
    },
    {
      command: 'starter runs retry --failed --type payout --since 1d --reason "outage"',
      description: "All that failed since yesterday",
    },
  ]),
);
