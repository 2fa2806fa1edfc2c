import * as BigDecimal from "effect/BigDecimal";
import { type MoneyState, moneyStateOf, outcomeReason, type Standing } from "../model/standing.ts";
import {
  DAY_MS,
  dayOf,
  isFew,
  paymentConditions,
  PAYMENTS,
  partsOf,
  runConditions,
  type RunFilter,
} from "./run-filter.ts";
import { readReasons } from "./failure-groups.ts";
import { type RecordedWrite, readRecorded, rowsOf } from "./write-rows.ts";
import { type RecordedWait, type Run, RUNS, WAITS } from "./schema.ts";
import type { Store, Where } from "./store.ts";
import * as column from "./column.ts";
import { type Query, query, type RowOf } from "./table.ts";

/*
 * A list costs what its page has, and sums cost one pass over a covering index: `writes_paid`, or `writes_owner` if
 * conditions are about runs. SQLite is then made to go through both tables in the order of the workflow id.
 */

/** Orders of a list: latest start, latest end, largest amount, or earliest due. */
export const RUN_SORTS = ["started", "ended", "amount", "late"] as const;
export type RunSort = (typeof RUN_SORTS)[number];

/** A page of a list. */
export interface RunPage {
  readonly limit: number;
  readonly sort?: RunSort | undefined;
  /** The `next` of the page before. */
  readonly after?: RunCursor | undefined;
}

/** The last run of a page. */
export interface RunCursor {
  readonly key: string | number;
  readonly workflowId: string;
}

/** A run with all that the ledger has about it: also the writes that it made for others, and those of its children. */
export interface FoundRun {
  readonly run: Run;
  readonly rows: ReadonlyArray<RecordedWrite>;
  readonly waits: ReadonlyArray<RecordedWait>;
}

/** Groups of sums. */
export type SumsBy = "payee" | "day" | "batch" | "reason";

/** Payouts and card limits are never added together; `other` has a user's own writes. */
export type MoneyGroup = "payouts" | "cards" | "other";

const CARDS: ReadonlySet<string> = new Set(["createCard", "updateCard", "withdrawFromCard"]);

/** Returns the group of a write's operation. */
export const moneyGroupOf = (operation: string): MoneyGroup =>
  operation === "createPayout" ? "payouts" : CARDS.has(operation) ? "cards" : "other";

/** Payments of one group, state and currency. */
export interface MoneySum {
  /** A payee's id, mark or description, a UTC date, a batch, or a reason; null if it has none, or nothing was grouped. */
  readonly key: string | null;
  readonly group: MoneyGroup;
  readonly state: MoneyState;
  readonly currency: string;
  readonly payments: number;
  readonly sum: BigDecimal.BigDecimal;
}

/** The expression that groups payments. */
const KEYS: Readonly<Record<SumsBy | "word", string>> = {
  payee: "payments.named_as",
  day: `payments.begun / ${DAY_MS}`,
  batch: "runs.batch",
  // Its reason is sealed: equal ones are found after SQL.
  reason: "runs.workflow_id",
  word: "payments.word",
};

const SUM = {
  key: column.textOrNull,
  operation: column.text,
  standing: column.oneOf<Standing>(),
  /** The service's, in sums by reason. */
  word: column.textOrNull,
  currency: column.text,
  payments: column.number,
  sum: column.text,
};

const isAsked = (where: Where): boolean => Object.values(where).some((one) => one !== undefined);

const waitsOf = (workflowId: string): Query =>
  query("SELECT * FROM waits WHERE workflow_id = $1 ORDER BY since, activity_id", workflowId);

/** Lists of runs, and sums of their payments. */
export const listMethods = (store: Store) => {
  const { database, seal } = store;
  const { dialect } = database;
  const ofRun =
    "FROM writes WHERE writes.owner_id = runs.workflow_id AND writes.amount IS NOT NULL";
  const SORTS: Readonly<Record<RunSort, readonly [key: string, order: "ASC" | "DESC"]>> = {
    started: ["runs.started_at", "DESC"],
    ended: ["coalesce(runs.ended_at, 0)", "DESC"],
    amount: [
      `coalesce((SELECT max(${dialect.order("writes.amount")}) ${ofRun}), ${dialect.order("coalesce(runs.amount, '0')")})`,
      "DESC",
    ],
    late: [
      `coalesce((SELECT min(writes.payment_date) ${ofRun} AND writes.standing = 'made'), '9999')`,
      "ASC",
    ],
  };

  const hasReason = "(runs.end_type IS NOT NULL OR runs.status IN ('failed', 'returned'))";
  const reasons = (filter: RunFilter) => readReasons(store, filter, { [hasReason]: true });
  const idsOfError = async (filter: RunFilter): Promise<ReadonlyArray<string> | undefined> =>
    filter.error === undefined ? undefined : [...(await reasons(filter)).keys()];

  /** Returns the statement that finds a page, and the first run of the next. */
  const selectPage = (
    filter: RunFilter,
    { after, limit, sort = "started" }: RunPage,
    ids: ReadonlyArray<string> | undefined,
  ): Query => {
    const [key, order] = SORTS[sort];
    // The first value: SQLite keeps each statement, so no number of a caller may be a part of one.
    const ordered = `ORDER BY sort_key ${order}, workflow_id ${order} LIMIT $1`;
    const asked = Object.entries(paymentConditions(filter, dialect)).flatMap(([part, value]) =>
      value === undefined ? [] : [{ part, value }],
    );
    const ofThem = asked.map(({ part }) => part).join(" AND ");
    // No EXISTS: PostgreSQL would read all writes once instead of those of the page.
    const pays = isFew(filter)
      ? `runs.workflow_id IN (${PAYMENTS.map((some) => `SELECT run FROM ${some} WHERE ${ofThem}`).join(" UNION ALL ")})`
      : `(${PAYMENTS.map((some) => `(SELECT 1 FROM ${some} WHERE run = runs.workflow_id AND ${ofThem} LIMIT 1) IS NOT NULL`).join(" OR ")})`;
    const values = PAYMENTS.flatMap(() => asked.flatMap(({ value }) => value));
    let all: Query = { sql: "", values: [limit + 1] };
    // Each status has its own part of an index, which is in order.
    for (const status of filter.statuses?.flatMap(partsOf) ?? [undefined]) {
      all = store.where(
        `${all.sql}${all.sql && " UNION "}SELECT * FROM (SELECT runs.*, ${key} AS sort_key FROM runs`,
        {
          ...runConditions({ ...filter, statuses: status && [status] }, ids),
          [`(${key}, runs.workflow_id) ${order === "ASC" ? ">" : "<"} (?, ?)`]: after && [
            after.key,
            after.workflowId,
          ],
          ...(asked.length > 0 && { [pays]: values }),
        },
        `${ordered}) AS part`,
        undefined,
        all.values,
      );
    }
    return query(`SELECT * FROM (${all.sql}) AS parts ${ordered}`, ...all.values);
  };

  /** Reads everything about some runs in one snapshot. */
  const readRuns = async (runs: ReadonlyArray<Run>): Promise<ReadonlyArray<FoundRun>> => {
    const ids = runs.map(({ workflowId }) => workflowId);
    const found = await database.read([...ids.map(rowsOf), ...ids.map(waitsOf)]);
    return runs.map((run, at) => ({
      run,
      rows: (found[at] ?? []).map((row) => readRecorded(row, seal)),
      waits: (found[runs.length + at] ?? []).map((wait) => WAITS.read(wait, seal)),
    }));
  };

  /** Returns the statement that adds up payments. */
  const selectSums = (
    filter: RunFilter,
    by: SumsBy | "word" | undefined,
    ids: ReadonlyArray<string> | undefined,
    payments: string,
  ): Query => {
    const ofRuns = runConditions(filter, ids);
    const needsRuns = isAsked(ofRuns) || by === "batch" || by === "reason";
    return store.where(
      `SELECT ${by === undefined ? "NULL" : KEYS[by]} AS key, operation, standing,
       ${by === "reason" ? "payments.word" : "NULL"} AS word, coalesce(payments.currency, '') AS currency,
       count(*) AS payments, ${dialect.sum("payments.amount")} AS sum
       FROM ${payments} ${needsRuns ? "JOIN runs ON runs.workflow_id = payments.run" : ""}`,
      {
        ...paymentConditions(filter, dialect),
        ...ofRuns,
        "payments.amount IS NOT NULL": true,
        ...(by === "word" && { "payments.word_asks = 1": true }),
      },
      "GROUP BY 1, 2, 3, 4, 5",
    );
  };

  return {
    /**
     * Lists a page of the runs that match a filter, each with its writes and waits.
     *
     * @returns the runs, the latest start first unless another order is asked for; `next` is undefined on the last page.
     */
    listRuns: async (
      filter: RunFilter,
      page: RunPage,
    ): Promise<{
      readonly runs: ReadonlyArray<FoundRun>;
      readonly next: RunCursor | undefined;
    }> => {
      const found = await store.find(selectPage(filter, page, await idsOfError(filter)));
      const rows = found.slice(0, page.limit);
      const { sort_key: key, workflow_id: workflowId } = rows.at(-1) ?? {};
      return {
        runs: await readRuns(rows.map((row) => RUNS.read(row, seal))),
        next:
          found.length > rows.length
            ? { key: key ?? 0, workflowId: String(workflowId) }
            : undefined,
      };
    },
    /**
     * Adds up the payments that match a filter, exactly: all of them, not those of a page.
     *
     * @param by the groups; `word`: only payments with a status of which a person is asked what it means.
     */
    sums: async (filter: RunFilter, by?: SumsBy | "word"): Promise<ReadonlyArray<MoneySum>> => {
      const names = by === "reason" ? await reasons(filter) : undefined;
      const ids = names === undefined ? await idsOfError(filter) : [...names.keys()];
      // A planned payment has no status of the service.
      const relations = by === "word" ? PAYMENTS.slice(0, 1) : PAYMENTS;
      const selects = relations.map((some) => selectSums(filter, by, ids, some));
      const found = await store.read(SUM, ...selects);
      const keyOf = ({ key, ...of }: RowOf<typeof SUM>): string | null =>
        by === "day"
          ? dayOf(Number(key) * DAY_MS)
          : names === undefined
            ? key
            : (outcomeReason(of) ?? names.get(key ?? "") ?? null);
      const parts = found.map((of): MoneySum => {
        const { currency, operation, payments, standing, sum } = of;
        return {
          key: keyOf(of),
          group: moneyGroupOf(operation),
          state: moneyStateOf(standing),
          currency,
          payments,
          sum: BigDecimal.fromStringUnsafe(sum),
        };
      });
      const equal = Map.groupBy(parts, ({ currency, group, key, state }) =>
        JSON.stringify([key, group, state, currency]),
      );
      return [...equal.values()].map((some) =>
        some.reduce((all, { payments, sum }) => ({
          ...all,
          payments: all.payments + payments,
          sum: BigDecimal.sum(all.sum, sum),
        })),
      );
    },
  };
};
