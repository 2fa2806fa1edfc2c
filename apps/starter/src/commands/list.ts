import type { RunView, Status } from "@durable-payments/operations/show";
import { Command, Flag } from "effect/cli";
import * as Option from "effect/Option";
import { badUsage, EXIT_CODES, EXIT_CODES_HELP } from "../exit-codes.ts";
import type { ListTotals } from "../output/list-text.ts";
import { json, on, text } from "./flags.ts";
import { readTime } from "../input/since.ts";
import { runCommand } from "./run-command.ts";

const flags = {
  status: text("status", "LIST", "failed,waiting,unknown,asking,approval,paused, …"),
  find: text("find", "ID", "Workflow id, its beginning, or an id that it made"),
  since: text("since", "AGE", "Started since: 7d, 12h, 2026-11-01"),
  type: text("type", "TYPE", "Workflow type, such as payout"),
  batches: on("batches", "List batches (files) instead of runs"),
  limit: Flag.Int("limit").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("Most to show, default 50"),
    Flag.withDefault(50),
  ),
  csv: on("csv", "Print CSV"),
  json,
};

const statusesOf = (given: string | undefined): ReadonlyArray<Status> | undefined =>
  // What is no status, the operation refuses with the list of them.
  given?.split(",").map((status) => status.trim() as Status);

const totalsOf = async (runs: ReadonlyArray<RunView>): Promise<ReadonlyArray<ListTotals>> => {
  const { sumMoney } = await import("@durable-payments/operations/show");
  const statuses = [
    ...new Set(runs.map(({ statuses: [first], state }) => first ?? state ?? "not known")),
  ];
  return statuses.map((status) => {
    const of = runs.filter(
      ({ statuses: [first], state }) => (first ?? state ?? "not known") === status,
    );
    return { status, runs: of.length, money: sumMoney(of) };
  });
};

/** `starter list`: finds runs and batches. */
export const list = Command.make("list", flags, (given) =>
  runCommand(given.json, async (output) => {
    const { limit } = given;
    if (limit < 1) throw badUsage("--limit must be 1 or more.");
    if (given.csv && given.json) throw badUsage("Choose one of --csv and --json.");
    const statuses = statusesOf(Option.getOrUndefined(given.status));
    const { operating, reading } = await import("../settings.ts");
    const { listBatches, listRuns } = await import("@durable-payments/operations/show");
    const { batchesText, listCsv, listText } = await import("../output/list-text.ts");
    if (given.batches) {
      const batches = await reading(async ({ ledger, whyNot }) => {
        if (ledger === undefined) throw badUsage(whyNot.join(" "));
        return listBatches(ledger, limit);
      });
      output.answer({ batches }, (shown) => batchesText(shown));
      return EXIT_CODES.done;
    }
    const since = Option.map(given.since, (age) => readTime("since", age).getTime());
    const found = await operating((operations) =>
      listRuns(operations, {
        statuses,
        find: Option.getOrUndefined(given.find),
        since: Option.getOrUndefined(since),
        type: Option.getOrUndefined(given.type),
        limit,
      }),
    );
    const answer = { ...found, totals: await totalsOf(found.runs) };
    output.answer(answer, (shown) => (given.csv ? listCsv(shown.runs) : listText(shown)));
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("Find runs, and why each is in its state"),
  Command.withDescription(
    `Find runs: each with its status, what it pays, and why it is in its state.
  Of the runs of one id only the latest counts. Money is summed by status.

  Statuses: asking (needs an answer), approval, unknown (outcome), paused,
  waiting, running, ended (by a person), failed (with timedOut and terminated),
  timedOut, terminated, cancelled, succeeded. Several are separated by commas.

  ${EXIT_CODES_HELP}`,
  ),
  Command.withExamples([
    { command: "starter list --status failed --since 7d", description: "What failed this week" },
    { command: "starter list --find invoice-17", description: "Which run has this id" },
    { command: "starter list --status succeeded --csv", description: "For a spreadsheet" },
  ]),
);
