import type { RunView } from "@durable-payments/control";
import { Flag, Command } from "effect/cli";
import type { Output } from "../output/output.ts";
import { count, listed, on, orUndefined, text, time } from "./flags.ts";
import { described, runListing, type Work } from "./run-command.ts";

/** Conditions that `list` and `report` have in common. */
const COMMON = {
  account: text("account", "NAME", 'Account that pays, by name; the unnamed one is "default"'),
  currency: text("currency", "CODE", "Currency, such as EUR"),
  ...listed,
};

const KEYS = ["payee", "day", "batch", "reason"] as const;

const listing = {
  status: text("status", "LIST", "failed,waiting,unknown,asking,approval,paused, …"),
  payee: text("payee", "WHO", "Name, last four of the account, or id of the payee"),
  find: text("find", "ID", "Workflow id, or how it begins, or an id at the service"),
  reference: text("reference", "TEXT", "Payment reference"),
  batch: text("batch", "ID", "Batch (file)"),
  error: text("error", "TEXT", "Type of the failure, or a part of the reason"),
  since: time("since", "AGE", "Started since: 7d, 12h, 2026-11-01"),
  until: time("until", "AGE", "Started before: 1d, 2026-11-08"),
  olderThan: time("older-than", "AGE", "The same as --until"),
  late: on("late", "Payouts under way long after their payment date"),
  type: text("type", "TYPE", "Workflow type, such as payout"),
  ...COMMON,
  sort: Flag.Literals("sort", ["started", "ended", "amount", "late"]).pipe(
    Flag.withDescription("Order"),
    orUndefined,
  ),
  groupBy: Flag.Literals("group-by", KEYS).pipe(
    Flag.withDescription("Sums instead of runs"),
    orUndefined,
  ),
  batches: on("batches", "List batches (files) instead of runs"),
  limit: count("limit", "Most to show; default 50; none with --csv or --jsonl", 0),
};

/** Runs that are read at once for CSV and JSON Lines. */
const PART = 500;

/** Prints runs page by page: a list of any length takes the memory of one page. */
const printAll = async (
  output: Output,
  read: (
    limit: number,
    after: Parameters<Work["listRuns"]>[2]["after"],
  ) => ReturnType<Work["listRuns"]>,
  limit: number,
  print: (runs: ReadonlyArray<RunView>, isFirst: boolean) => void,
) => {
  let left = limit === 0 ? Number.POSITIVE_INFINITY : limit;
  let after: Parameters<Work["listRuns"]>[2]["after"];
  let isFirst = true;
  do {
    const page = await read(Math.min(PART, left), after);
    print(page.runs, isFirst);
    left -= page.runs.length;
    after = left > 0 ? page.next : undefined;
    isFirst = false;
  } while (after !== undefined && !output.isClosed());
};

/** `durable-payments list`: finds runs and batches. */
export const list = Command.make("list", listing, (given) =>
  runListing(given, async (output, work) => {
    const { csv, groupBy, jsonl, limit, sort, status } = given;
    const statuses = status === undefined ? undefined : work.readStatuses(status);
    if (given.batches) {
      const found = await work.onLedger(({ ledger }) => work.listBatches(ledger, limit || 50));
      if (jsonl) output.lines(found);
      else output.answer({ batches: found }, (shown) => work.batchesText(shown));
      return;
    }
    const { batch, error, find, payee, reference, type } = given;
    const filter = {
      batch,
      error,
      find,
      payee,
      reference,
      statuses,
      type,
      account: work.accountHere(given.account),
      currency: given.currency?.toUpperCase(),
      since: given.since?.getTime(),
      until: (given.until ?? given.olderThan)?.getTime(),
      lateAt: given.late ? Date.now() - work.lateAfterMsHere() : undefined,
    };
    const shownPage = { limit: limit || 50, sort };
    const hasOpen = await work.onLedger(async ({ ledger }) => {
      if (groupBy !== undefined) {
        work.printReport(output, await work.readReport(ledger, filter, groupBy), given);
        return false;
      }
      if (csv || jsonl) {
        // The progress of open runs would take a request for each.
        await printAll(
          output,
          (most, after) => work.listRuns({ ledger }, filter, { limit: most, sort, after }),
          limit,
          (runs, isFirst) =>
            csv
              ? output.text(work.csvText(runs.flatMap(work.runCsv), isFirst))
              : output.lines(runs),
        );
        return false;
      }
      const page = await work.listRuns({ ledger }, filter, shownPage);
      if (page.runs.some(({ status }) => work.isOpenStatus(status))) return true;
      const { totals } = await work.readReport(ledger, filter);
      output.answer({ ...page, totals }, (shown) => work.listText(shown, work.lateAfterMsHere()));
      return false;
    });
    // Temporal has nothing to add to runs that have ended: no connection is made for them.
    if (!hasOpen) return;
    await work.reading(async (sources) => {
      const ledger = work.ledgerOf(sources);
      const listSources = { ...sources, ledger, client: sources.temporal?.client };
      const page = await work.listRuns(listSources, filter, shownPage);
      const { totals } = await work.readReport(ledger, filter);
      output.answer({ ...page, totals }, (shown) => work.listText(shown, work.lateAfterMsHere()));
    });
  }),
).pipe(
  described(
    "Find runs, with the reason for each status, and what they pay",
    `Find runs, newest first, with the reason for each status. Amounts and payees
  are those that were sent; the totals are of all runs that match. It needs only
  the ledger: Temporal adds what open runs are doing.

  Statuses: asking (needs an answer), approval, unknown (outcome), returned (the
  money came back), paused, waiting, running, missing (not in Temporal), ended
  (by a stop order), failed (includes timedOut and terminated), timedOut,
  terminated, cancelled, succeeded. Separate several with commas.`,
    {
      "durable-payments list --status failed --since 7d": "Failed runs that were started this week",
      "durable-payments list --payee 'Muster AG'": "All payments to a payee",
      "durable-payments list --late": "Payouts that should have completed",
      "durable-payments list --status failed --group-by reason": "Why runs failed",
    },
  ),
);

/** Time of a report, unless another is given: 30 days. */
const LAST_MS = 30 * 86_400_000;

const reporting = {
  since: time("since", "AGE", "Payments since: 7d, 2026-11-01; default 30d"),
  until: time("until", "AGE", "Payments before: 1d, 2026-11-08"),
  by: Flag.Literals(
    "by",
    KEYS.filter((key) => key !== "reason"),
  ).pipe(Flag.withDescription("One line for each"), orUndefined),
  ...COMMON,
};

/** `durable-payments report`: adds up payments. */
export const report = Command.make("report", reporting, (given) =>
  runListing(given, async (output, work) => {
    const filter = {
      account: work.accountHere(given.account),
      currency: given.currency?.toUpperCase(),
      paidSince: given.since?.getTime() ?? Date.now() - LAST_MS,
      paidUntil: given.until?.getTime(),
    };
    const found = await work.onLedger(({ ledger }) => work.readReport(ledger, filter, given.by));
    work.printReport(output, found, given);
  }),
).pipe(
  described(
    "Add up payments: paid, under way, failed, came back",
    `Add up all payments that were begun within a time, by default the last 30 days:
  what was paid, is under way, has an unknown outcome, failed, came back, was
  not paid, is planned. Payouts and card limits are never added together. It
  needs only the ledger.`,
    {
      "durable-payments report": "The last 30 days",
      "durable-payments report --since 7d --by payee": "Whom we paid this week",
      "durable-payments report --since 2026-10-01 --until 2026-11-01 --by day --csv":
        "A month, for a spreadsheet",
    },
  ),
);
