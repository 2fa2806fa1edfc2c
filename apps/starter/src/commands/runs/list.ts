import { Command, Flag } from "effect/cli";
import * as Option from "effect/Option";
import { badUsage, EXIT_CODES, EXIT_CODES_HELP } from "../../exit-codes.ts";
import type { ListedRun, Standing } from "@durable-payments/operations/runs";
import { json } from "../flags.ts";
import { runCommand } from "../run-command.ts";

const standing = (name: Standing, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false));

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.optional,
  );

const standings = {
  failed: standing("failed", "Those that failed or timed out"),
  running: standing("running", "Those that are under way"),
  waiting: standing("waiting", "… and wait for the service or for money"),
  attention: standing("attention", "… and wait for a person"),
  inDoubt: Flag.Boolean("in-doubt").pipe(
    Flag.withDescription("Those that ended in doubt, and are not settled"),
    Flag.withDefault(false),
  ),
};

const flags = {
  ...standings,
  type: text("type", "TYPE", "Workflow type, such as payout"),
  stage: text("stage", "STAGE", "The step they are at, or ended at"),
  since: text("since", "AGE", "Started or ended since: 7d, 12h, 2026-11-01"),
  find: text("find", "ID", "Workflow id, key, or id such as a payout_id; or its beginning"),
  group: Flag.Boolean("group").pipe(
    Flag.withDescription("Group all by reason; without a state those that failed"),
    Flag.withDefault(false),
  ),
  limit: Flag.Int("limit").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("Most runs to show, default 50"),
    Flag.withDefault(50),
  ),
  json,
};

const STANDINGS: ReadonlyArray<Standing> = ["failed", "running", "waiting", "attention", "inDoubt"];

/** `starter runs list`: finds runs. */
export const list = Command.make("list", flags, (given) =>
  runCommand(given.json, async (output) => {
    if (given.limit < 1) throw badUsage("--limit must be 1 or more.");
    const standings = STANDINGS.filter((name) => given[name]);
    const standing = given.group && standings.length === 0 ? (["failed"] as const) : standings;
    if (given.inDoubt && standing.length > 1) {
      throw badUsage("--in-doubt goes with none of the other states.");
    }
    const { readSince } = await import("../input/since.ts");
    const filter = {
      standing,
      type: Option.getOrUndefined(given.type),
      stage: Option.getOrUndefined(given.stage),
      since: Option.getOrUndefined(Option.map(given.since, (since) => readSince(since))),
      find: Option.getOrUndefined(given.find),
    };
    const { withTemporal } = await import("../../settings.ts");
    const { answerList } = await import("../../output/stream.ts");
    const { groupRuns, listRuns } = await import("@durable-payments/operations/runs");
    const { groupsText, runListLayout } = await import("../../output/run-list-text.ts");
    await withTemporal(async (temporal) => {
      const found = listRuns(temporal, filter);
      if (!given.group) return answerList(output, found, { ...runListLayout, limit: given.limit });
      const runs: Array<ListedRun> = [];
      for await (const run of found) runs.push(run);
      const groups = groupRuns(runs);
      output.answer({ groups }, (shown) => groupsText(shown.groups));
    });
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("Find runs"),
  Command.withDescription(
    `Find runs: those that are under way first, then the latest to end. Several of
  --failed, --running, --waiting and --attention show any of these. Runs are
  shown as they are found; of the runs of one id only the latest, and each that
  is in doubt.

  Each with what it moves, what it waits for and since when, or why it failed.
  --group counts them by reason, with an example of each. --find takes the
  beginning of an id, too, where no run has it as a whole.

  ${EXIT_CODES_HELP}`,
  ),
  Command.withExamples([
    { command: "starter runs list --failed --since 7d", description: "What failed this week" },
    {
      command: "starter runs list --find 7d595adc",
      description: "Which run has an id that begins so",
    },
    {
      command: "starter runs list --failed --group",
      description: "Why runs failed, and how many",
    },
  ]),
);
