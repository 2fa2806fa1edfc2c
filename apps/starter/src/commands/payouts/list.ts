import { Command, Flag } from "effect/cli";
import * as Option from "effect/Option";
import { badUsage, EXIT_CODES, EXIT_CODES_HELP } from "../../exit-codes.ts";
import { json } from "../flags.ts";
import { runCommand } from "../run-command.ts";

const flags = {
  since: Flag.String("since").pipe(
    Flag.withMetavar("AGE"),
    Flag.withDescription("Started or ended since: 7d, 12h, 2026-11-01"),
    Flag.optional,
  ),
  limit: Flag.Int("limit").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("Most batches to show, default 20"),
    Flag.withDefault(20),
  ),
  json,
};

/** `starter payouts list`: lists the batches. */
export const list = Command.make("list", flags, (given) =>
  runCommand(given.json, async (output) => {
    if (given.limit < 1) throw badUsage("--limit must be 1 or more.");
    const { readSince } = await import("../input/since.ts");
    const since = Option.getOrUndefined(Option.map(given.since, (age) => readSince(age)));
    const { withTemporal } = await import("../../settings.ts");
    const { answerList } = await import("../../output/stream.ts");
    const { listBatches } = await import("@durable-payments/operations/batch");
    const { batchListLayout } = await import("../../output/batch-list-text.ts");
    await withTemporal((temporal) =>
      answerList(output, listBatches(temporal, { since }), {
        ...batchListLayout,
        limit: given.limit,
      }),
    );
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("List the batches"),
  Command.withDescription(
    `List the batches: file, rows, totals by currency as they are sent now, state,
  when each was started and by whom. Those that are under way first.

  ${EXIT_CODES_HELP}`,
  ),
  Command.withExamples([
    { command: "starter payouts list --since 7d", description: "The batches of this week" },
  ]),
);
