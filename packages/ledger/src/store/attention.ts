/**
 * Everything that waits for a person, besides questions and approvals.
 *
 * Nothing fails in these states, so nothing would report them: a payout whose status no setting lists waits forever.
 * Each state is one item for each account, word or file, with a count, so that five hundred late payouts are one thing
 * to do. The inbox, notifications, metrics and the doctor read this one method, and its cost grows with what is open.
 */
import { batchLogId } from "../model/gate.ts";
import { type ProblemDetails, PROBLEMS } from "./feed-schema.ts";
import { dayOf, lateSince } from "./run-filter.ts";
import * as column from "./column.ts";
import { query } from "./table.ts";
import type { Store } from "./store.ts";

/** Why a person is needed. */
export type AttentionKind =
  /** A payout shows a status that is not listed, also after it had completed. */
  | "word"
  /** A payout that is not completed long after its payment date, or shows for as long a status that is not listed. */
  | "late"
  /** The service refuses to show what a run waits for. */
  | "unreadable"
  /** Temporal has lost an unfinished run. */
  | "missing"
  /** No row of a file starts, or no run of a repair is retried. */
  | "stalled"
  /** An account with open payouts or runs that no worker serves. */
  | "unserved";

/** A problem that needs a person. */
export interface Attention {
  readonly kind: AttentionKind;
  readonly account: string | null;
  /** The word, the file, the type of lost runs, or the account. Late payouts with an unlisted word are by word, too. */
  readonly of: string;
  readonly count: number;
  /** Sums by currency: decimal strings. */
  readonly money: ReadonlyArray<{ readonly amount: string; readonly currency: string }>;
  /** Start of the oldest, of a late payout when it became late, of a word when it was first seen: milliseconds since 1970 by the ledger's clock. */
  readonly since: number;
  /** At most three examples. */
  readonly workflowIds: ReadonlyArray<string>;
  /** The service's reason, if it gives one. */
  readonly message: string | null;
}

/** A problem as it is noted: `overdue` runs as well, which only their own workflows can end. */
export interface Problem extends Omit<Attention, "kind" | "since"> {
  readonly kind: AttentionKind | "overdue";
}

/** Name of the lease that the tracker of an account renews with each pass. */
export const trackerLease = (account: string): string => `tracker ${account}`;

/** Without a sign for this time, a file counts as stalled, and an account as not served. */
const SILENT_AFTER_MS = 5 * 60_000;

const FOUND = {
  kind: column.oneOf<AttentionKind>(),
  account: column.textOrNull,
  of: column.text,
  currency: column.textOrNull,
  count: column.number,
  amount: column.text,
  since: column.numberOrNull,
  /** The first payment date of late payouts. */
  day: column.textOrNull,
  first: column.text,
  last: column.text,
  message: column.orNull(column.sealed(column.text)),
};

const OVERDUE = { account: column.text, count: column.number, first: column.text };

const MADE = "FROM writes WHERE standing = 'made'";

const OPEN = "FROM runs WHERE end_state IS NULL AND account IS NOT NULL";

/** A late payout is grouped by the word that nobody has listed, or by its account. */
const LATE_OF = "CASE WHEN word_unlisted = 1 AND word_asks = 0 THEN word ELSE account END";

/**
 * The accounts of some rows that no worker serves. From each account an index leads to the next: a million open payouts of
 * one account cost as much as one.
 */
const unserved = (rows: string): string =>
  `(WITH RECURSIVE accounts AS (SELECT (SELECT account ${rows} ORDER BY account LIMIT 1) AS served
    UNION ALL SELECT (SELECT account ${rows} AND account > accounts.served ORDER BY account LIMIT 1) FROM accounts WHERE served IS NOT NULL)
   SELECT served FROM accounts WHERE served IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM leases WHERE name = '${trackerLease("")}' || served AND until >= $2))`;

/**
 * One row for each thing; `$1` is the day before which a payment is late, `$2` the time of the last sign, `$3` the time
 * of `$1`.
 */
const THINGS = [
  `SELECT 'word' AS kind, account, word AS of, currency, amount, coalesce(word_since, changed_at) AS since, workflow_id, NULL AS message, NULL AS day
   FROM writes WHERE word_asks = 1`,
  `SELECT 'late', account, ${LATE_OF}, currency, amount, NULL, workflow_id, NULL, payment_date
   ${MADE} AND payment_date < $1`,
  // In two parts, because each has an index.
  `SELECT 'late', account, ${LATE_OF}, currency, amount, changed_at, workflow_id, NULL, NULL
   ${MADE} AND word_unlisted = 1 AND changed_at < $3 AND coalesce(payment_date >= $1, 1 = 1)`,
  `SELECT 'unreadable', account, account, currency, amount, changed_at, workflow_id, problem, NULL
   ${MADE} AND problem IS NOT NULL`,
  // The problem of a payout is one of its write.
  `SELECT 'unreadable', account, account, NULL, NULL, since, workflow_id, NULL, NULL
   FROM waits WHERE closed_at IS NULL AND outcome IS NOT NULL AND kind <> 'payout'`,
  `SELECT 'missing', account, type, currency, amount, started_at, workflow_id, end_reason, NULL
   FROM runs WHERE status = 'missing'`,
  `SELECT 'stalled', account, batch, currency, amount, created_at, batch, NULL, NULL
   FROM (SELECT batches.account, batch, batch_rows.currency, batch_rows.amount, created_at
    FROM batches JOIN batch_rows ON batch = id AND batch_rows.state = 'waiting'
    WHERE batches.state = 'approved' AND created_at < $2
    AND NOT EXISTS (SELECT 1 FROM pauses WHERE scope = 'all' OR (scope = 'batch' AND of = id))
    AND NOT EXISTS (SELECT 1 FROM log WHERE workflow_id IN ('', '${batchLogId("")}' || id) AND kind <> '' AND at >= $2)
    AND NOT EXISTS (SELECT 1 FROM batch_rows AS taken JOIN log ON log.workflow_id = taken.workflow_id AND kind <> '' AND at >= $2
     WHERE taken.batch = id AND taken.run IS NOT NULL AND taken.state = 'started')
    AND NOT EXISTS (SELECT 1 FROM writes JOIN runs ON runs.workflow_id = writes.workflow_id
     WHERE runs.batch = id AND writes.created_at >= $2 AND writes.amount IS NOT NULL)) AS still`,
  // An upload takes seconds. A payee that cannot be read has a message.
  `SELECT 'stalled', batches.account, id, currency, amount, created_at, id, message, NULL
   FROM batches LEFT JOIN batch_rows ON batch = id AND batch_rows.state = 'waiting'
   WHERE created_at < $2 AND (batches.state = 'uploading' OR (batches.state = 'reading' AND message IS NOT NULL))`,
  `SELECT 'unserved', account, account, NULL, NULL, since, workflow_id, NULL, NULL
   FROM (SELECT account, changed_at AS since, workflow_id ${MADE} AND account IN ${unserved(MADE)}
    UNION SELECT account, started_at, workflow_id ${OPEN} AND account IN ${unserved(OPEN)}) AS open WHERE since < $2`,
];

/** The problems that need a person. */
export const attentionMethods = (store: Store) => {
  const { now, sum } = store.database.dialect;
  const insertProblem = PROBLEMS.inserter([]);
  const all = `SELECT kind, account, of, currency, count(*) AS count, ${sum("amount")} AS amount, min(since) AS since, min(day) AS day,
    min(workflow_id) AS first, max(workflow_id) AS last, max(message) AS message
    FROM (${THINGS.join(" UNION ALL ")}) AS things GROUP BY kind, account, of, currency ORDER BY kind, account, of, currency`;
  return {
    /**
     * Returns the payments and files that are blocked until a person acts, each problem once.
     *
     * @param lateAfterMs a payout is late this long after the end of its payment date, in UTC.
     */
    attention: async ({
      lateAfterMs,
    }: {
      readonly lateAfterMs: number;
    }): Promise<ReadonlyArray<Attention>> => {
      const [at] = await store.find(query(`SELECT ${now} AS now`));
      const time = Number(at?.["now"]);
      const late = time - lateAfterMs;
      const asked = query(all, dayOf(late), time - SILENT_AFTER_MS, late);
      const things = Map.groupBy(await store.read(FOUND, asked), ({ account, kind, of }) =>
        JSON.stringify([kind, account, of]),
      );
      return [...things.values()].flatMap((parts) => {
        const [first] = parts;
        if (first === undefined) return [];
        return {
          kind: first.kind,
          account: first.account,
          of: first.of,
          count: parts.reduce((count, part) => count + part.count, 0),
          money: parts.flatMap(({ amount, currency }) =>
            currency === null ? [] : [{ amount, currency }],
          ),
          since: Math.min(
            ...parts.flatMap(({ day, since }) => [
              ...(since === null ? [] : [first.kind === "late" ? since + lateAfterMs : since]),
              ...(day === null ? [] : [lateSince(day, lateAfterMs)]),
            ]),
          ),
          workflowIds: [...new Set(parts.flatMap((part) => [part.first, part.last]))].slice(0, 3),
          message: parts.find(({ message }) => message !== null)?.message ?? null,
        };
      });
    },
    /**
     * Returns the accounts with runs that are open for longer than expected, each once: a run that waits whether money
     * comes back is expected to. Its cost grows with the runs that are open for as long.
     */
    overdue: async (overdueAfterMs: number): Promise<ReadonlyArray<Problem>> => {
      const found = await store.read(
        OVERDUE,
        query(
          `SELECT coalesce(account, '') AS account, count(*) AS count, min(workflow_id) AS first FROM runs
           WHERE end_state IS NULL AND started_at < ${now} - $1
           AND NOT EXISTS (SELECT 1 FROM waits WHERE waits.workflow_id = runs.workflow_id AND waits.kind = 'return' AND closed_at IS NULL)
           GROUP BY coalesce(account, '')`,
          overdueAfterMs,
        ),
      );
      return found.map(({ account, count, first }) => ({
        kind: "overdue",
        account,
        count,
        of: account,
        money: [],
        workflowIds: [first],
        message: null,
      }));
    },
    /** Records the problems that need a person now: those that began and those that ended are events. */
    noteProblems: (items: ReadonlyArray<Problem>): Promise<void> => {
      const keyOf = (of: {
        readonly account: string | null;
        readonly kind: string;
        readonly of: string;
      }) => JSON.stringify([of.account ?? "", of.kind, of.of]);
      const now = new Map(items.map((item) => [keyOf(item), item]));
      return store.database.write("problems", [query("SELECT * FROM problems")], ([found = []]) => {
        const noted = found.map((row) => PROBLEMS.read(row, store.seal));
        const known = new Set(noted.map(keyOf));
        const began = [...now].filter(([key]) => !known.has(key));
        const ended = noted.filter((one) => !now.has(keyOf(one)));
        const writes = [
          ...ended.map((one) =>
            store.where("DELETE FROM problems", {
              "account = ?": one.account,
              "kind = ?": one.kind,
              "of = ?": one.of,
            }),
          ),
          ...began.map(([, { account, count, kind, message, money, of, workflowIds }]) => {
            const details: ProblemDetails = {
              count,
              sums: Object.fromEntries(money.map(({ amount, currency }) => [currency, amount])),
            };
            const reason = message ?? (kind === "word" ? of : null);
            const [workflowId = ""] = workflowIds;
            return insertProblem(
              { account: account ?? "", kind, of, workflowId, reason, details },
              store.seal,
            );
          }),
        ];
        return { value: undefined, writes };
      });
    },
  };
};
