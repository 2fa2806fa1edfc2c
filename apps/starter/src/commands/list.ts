import { Flag } from "effect/cli";
import { conditions } from "./flag-sets.ts";
import { count, listed, on, orUndefined, text, time } from "./flags.ts";
import { command } from "./run-command.ts";

const currency = text("currency", "CODE", "Currency, such as EUR");

const KEYS = ["payee", "day", "batch", "reason"] as const;

const listing = {
  status: text("status", "LIST", "failed,waiting,unknown,asking,approval,paused, …"),
  find: text("find", "ID", "Id or key, or its beginning; or an id at the service"),
  reference: text("reference", "TEXT", "The whole payment reference"),
  group: text("group", "GROUP", "A group of failures, as failed prints it"),
  ...conditions,
  late: on("late", "Payouts under way long after their payment date"),
  currency,
  ...listed,
  sort: Flag.Literals("sort", ["started", "ended", "amount", "late"]).pipe(
    Flag.withDescription("Order"),
    orUndefined,
  ),
  groupBy: Flag.Literals("group-by", KEYS).pipe(
    Flag.withDescription("Sums instead of runs"),
    orUndefined,
  ),
  batches: on("batches", "List batches (files) instead of runs"),
  limit: count("limit", "At most this many; default 50, all with --csv or --jsonl", 0),
};

/** `durable-payments list`: finds runs and batches. */
export const list = command(
  "list",
  listing,
  async (output, payments, given, work) => {
    const { csv, groupBy, jsonl, limit, sort } = given;
    if (given.batches) {
      const batches = await payments.batches({ limit: limit || 50 });
      if (jsonl) output.lines(batches);
      else output.answer({ batches }, (shown) => work.batchesText(shown));
      return;
    }
    const { currency, find, reference, status } = given;
    const filter = {
      ...work.conditionsOf(payments, given),
      find,
      reference,
      currency: currency?.toUpperCase(),
      statuses: status === undefined ? undefined : work.statusesIn(status),
      lateAt: given.late ? Date.now() - payments.lateAfterMs : undefined,
    };
    if (groupBy !== undefined)
      return work.printReport(
        output,
        await payments.report({ ...filter, since: null }, groupBy),
        given,
      );
    if (!csv && !jsonl) {
      const page = await payments.list(filter, { limit: limit || 50, sort });
      return output.answer(page, (shown) => work.listText(shown, payments.lateAfterMs));
    }
    let isFirst = true;
    for await (const run of payments.listAll(filter, { sort, limit: limit || undefined })) {
      if (csv) output.text(work.csvText(work.runCsv(run), isFirst));
      else output.lines([run]);
      isFirst = false;
      if (output.isClosed()) return;
    }
  },
  "Find runs, with the reason for each status, and what they pay",
  `Find runs, newest first, with the reason for each status. Amounts and payees
  are those that were sent; the totals are of all runs that match. It needs only
  the ledger: Temporal adds what open runs are doing.

  --since and --until compare the start of a run. A row of a file starts when
  its run begins; until then, it has the time of its upload.

  Statuses: asking (shown as "needs an answer"), approval ("needs approval"),
  unknown ("outcome unknown"), returned ("came back"), paused, waiting, running,
  missing ("not in Temporal"), ended ("stopped by a person"), failed (includes
  timedOut and terminated), timedOut ("timed out"), terminated, cancelled,
  succeeded. The shown words are accepted, too. Separate several with commas.`,
  {
    "durable-payments list --status failed --since 7d": "Failed runs that were started this week",
    "durable-payments list --payee 'Muster AG'": "All payments to a payee",
    "durable-payments list --late": "Payouts that should have completed",
    "durable-payments list --status failed --group-by reason": "Why runs failed",
  },
);

const reporting = {
  since: time("since", "AGE", "Payments since: 7d, 2026-11-01; default 30d"),
  until: time("until", "AGE", "Payments before: 1d, 2026-11-08"),
  by: Flag.Literals(
    "by",
    KEYS.filter((key) => key !== "reason"),
  ).pipe(Flag.withDescription("Print one line for each"), orUndefined),
  account: conditions.account,
  currency,
  ...listed,
};

/** `durable-payments report`: adds up payments. */
export const report = command(
  "report",
  reporting,
  async (output, payments, given, work) => {
    const { account, currency } = given;
    const filter = {
      account: account === undefined ? undefined : payments.account(account),
      currency: currency?.toUpperCase(),
      since: given.since?.getTime(),
      until: given.until?.getTime(),
    };
    work.printReport(output, await payments.report(filter, given.by), given);
  },
  "Add up payments: paid, under way, failed, came back",
  `Add up all payments that began in a period, by default the last 30 days: paid,
  under way, outcome unknown, failed, came back, not paid, and planned. Payouts
  and card limits are never added together. It needs only the ledger.`,
  {
    "durable-payments report": "The last 30 days",
    "durable-payments report --since 7d --by payee": "Whom we paid this week",
    "durable-payments report --since 2026-10-01 --until 2026-11-01 --by day --csv":
      "A month, for a spreadsheet",
  },
);
