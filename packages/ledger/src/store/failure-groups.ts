/**
 * Failed runs in groups: one fault fails three hundred runs, and a person repairs the fault, not a run.
 *
 * Messages are sealed: SQL cannot compare them. So the group of a run is computed when its end is recorded. All groups then
 * cost one pass over an index, also of a million failed runs.
 */
import { formatAmount } from "@durable-payments/client/decimal";
import * as BigDecimal from "effect/BigDecimal";
import { withoutIds } from "../model/failure-group.ts";
import { NOT_PAID } from "../model/standing.ts";
import { IS_BUILT_IN } from "./run-status.ts";
import { NO_GROUP, runConditions, type RunFilter } from "./run-filter.ts";
import { type Batch, type Run, RUNS } from "./schema.ts";
import type { Store, Where } from "./store.ts";
import * as column from "./column.ts";
import { listed, type Query, query, type RowOf, type SqlRow, toJson } from "./table.ts";
import { type RecordedWrite, readRecorded } from "./write-rows.ts";
import { chunksOf } from "effect/Array";

/**
 * The text of the partial index: SQLite uses it for the same text alone. A run that has succeeded has not failed, whatever its end
 * in Temporal; nor has one whose cancellation somebody has requested there.
 */
const IS_FAILED = "status IN ('failed', 'timedOut', 'terminated')";

const KEY = { type: column.text, endGroup: column.textOrNull };
const COUNT = {
  ...KEY,
  currency: column.textOrNull,
  runs: column.number,
  first: column.numberOrNull,
  last: column.numberOrNull,
  sum: column.text,
};
const END = {
  workflowId: column.text,
  endType: column.textOrNull,
  endReason: column.orNull(column.sealed(column.text)),
};

/** Failed runs of one type, step, kind of error and message. */
export interface FailureGroup {
  /** Names the group in `group` of a filter: it stays the same. */
  readonly group: string;
  readonly type: string;
  readonly step: string | null;
  /** Type of the failure. */
  readonly error: string | null;
  /** The message without ids, numbers and amounts. */
  readonly message: string | null;
  readonly runs: number;
  /** Sums of the planned payments; of a user's own workflow that has payments, of those that were not made. Decimal strings. */
  readonly sums: ReadonlyArray<{ readonly currency: string; readonly amount: string }>;
  /** The first and the last end, in milliseconds since 1970. */
  readonly first: number | null;
  readonly last: number | null;
  /** The latest three workflow ids. */
  readonly examples: ReadonlyArray<string>;
}

/** The planned payment of a run counts. That of a user's own workflow does until it has a payment. */
const IS_PLANNED = `(runs.amount IS NOT NULL AND (runs.planned IS NOT NULL OR ${IS_BUILT_IN}))`;

/** Adds up the sums of a group by currency. */
const sumsOf = (counts: ReadonlyArray<RowOf<typeof COUNT>>): FailureGroup["sums"] =>
  [...Map.groupBy(counts, ({ currency }) => currency)].flatMap(([currency, of]) => {
    const sum = BigDecimal.sumAll(of.map((one) => BigDecimal.fromStringUnsafe(one.sum)));
    return currency === null || BigDecimal.isZero(sum)
      ? []
      : [{ currency, amount: formatAmount(sum, currency) }];
  });

const nameOf = ({ endGroup, type }: Pick<Run, "endGroup" | "type">): string =>
  `${type}-${endGroup ?? NO_GROUP}`;

/**
 * Returns the reasons of the runs that have one and match, by their ids: the failure's type or its message. SQL cannot
 * compare sealed ones.
 */
export const readReasons = async (
  store: Store,
  filter: RunFilter,
  more: Where,
): Promise<ReadonlyMap<string, string | null>> => {
  const found = await store.read(
    END,
    store.where("SELECT workflow_id, end_type, end_reason FROM runs", {
      ...more,
      ...runConditions(filter, undefined),
    }),
  );
  const wanted = filter.error?.toLowerCase();
  return new Map(
    found.flatMap(({ endReason, endType, workflowId }) => {
      const isMatch =
        wanted === undefined ||
        endType?.toLowerCase() === wanted ||
        endReason?.toLowerCase().includes(wanted) === true;
      const reason = endReason === null ? endType : withoutIds(endReason);
      return isMatch ? [[workflowId, reason] as const] : [];
    }),
  );
};

const rowsOfAny = (ids: string, { among }: Store["database"]["dialect"]): Query =>
  query(
    ["workflow_id", "owner_id", "root_id"]
      .map(
        (column) => `SELECT *, ${column} AS of_run FROM writes WHERE ${among(column, "$1")}
        ${column === "workflow_id" ? "" : `AND ${column} <> workflow_id`}`,
      )
      .join(" UNION "),
    ids,
  );

/** A failed run with its writes, and those of its children. */
export interface FailedRun {
  readonly run: Run;
  readonly rows: ReadonlyArray<RecordedWrite>;
  /** The repair under way that has not retried it yet. */
  readonly repair: Pick<Batch, "contentHash" | "id"> | undefined;
}

const REPAIR = {
  workflowId: column.text,
  run: column.text,
  id: column.text,
  contentHash: column.text,
};

/** Returns the repairs under way that have not retried failed runs yet, by workflow id and run. */
const readRepairs = (store: Store, workflowIds: ReadonlyArray<string>) =>
  store.read(
    REPAIR,
    query(
      `SELECT batch_rows.workflow_id, run, id, content_hash FROM batch_rows JOIN batches ON id = batch
       WHERE ${store.database.dialect.among("batch_rows.workflow_id", "$1")} AND run IS NOT NULL
       AND batch_rows.state IN ('waiting', 'started') AND batches.state IN ('needsApproval', 'approved')`,
      toJson(workflowIds),
    ),
  );

/** Runs of which one statement reads the writes. */
const READ_AT_ONCE = 1_000;

/** Groups of failed runs, and the runs with what their retries are planned from. */
export const failureMethods = (store: Store) => {
  const { database, seal } = store;
  const { among, sum } = database.dialect;
  const failed = async (filter: RunFilter): Promise<Where> => {
    const { account, currency, error, payees, reference } = filter;
    const list = payees && toJson(payees);
    const ids =
      error === undefined
        ? undefined
        : [...(await readReasons(store, filter, { [IS_FAILED]: true })).keys()];
    return {
      [IS_FAILED]: true,
      ...runConditions(filter, ids),
      "runs.account = ?": account,
      "runs.currency = ?": currency,
      "runs.reference = ?": reference,
      [`(${among("runs.payee", "?")} OR ${among("runs.alias", "?")})`]: list && [list, list],
    };
  };
  return {
    /** Groups the failed runs that match a filter: the largest group first. */
    failures: async (filter: RunFilter): Promise<ReadonlyArray<FailureGroup>> => {
      const where = await failed(filter);
      const counts = await store.read(
        COUNT,
        store.where(
          `SELECT type, end_group, currency, count(*) AS runs, min(ended_at) AS first, max(ended_at) AS last,
             ${sum(`CASE WHEN ${IS_PLANNED} THEN amount END`)} AS sum FROM runs`,
          where,
          "GROUP BY type, end_group, currency ORDER BY currency",
        ),
        // Once a user's own workflow has a payment, its writes are the payments.
        store.where(
          `SELECT failed.type, end_group, currency, 0 AS runs, NULL AS first, NULL AS last, ${sum("amount")} AS sum
             FROM (SELECT workflow_id AS id, type, end_group FROM runs`,
          { ...where, [`NOT ${IS_PLANNED}`]: true },
          `) AS failed JOIN writes ON owner_id = id AND amount IS NOT NULL AND standing IN ${listed(NOT_PAID)}
             GROUP BY failed.type, end_group, currency ORDER BY currency`,
        ),
      );
      const groups = [...Map.groupBy(counts, nameOf)];
      const latest = await database.read(
        groups.map(([, [of]]) =>
          store.where(
            "SELECT * FROM runs",
            {
              ...where,
              "type = ?": of?.type,
              ...(of?.endGroup ? { "end_group = ?": of.endGroup } : { "end_group IS NULL": true }),
            },
            "ORDER BY ended_at DESC, workflow_id",
            3,
          ),
        ),
      );
      return groups
        .map(([group, of], at): FailureGroup => {
          const runs = (latest[at] ?? []).map((row) => RUNS.read(row, seal));
          const { endReason = null, endStep = null, endType = null } = runs[0] ?? {};
          const times = of.flatMap(({ first, last }) => [first ?? [], last ?? []].flat());
          return {
            group,
            type: of[0]?.type ?? "",
            step: endStep,
            error: endType,
            message: endReason === null ? null : withoutIds(endReason),
            runs: of.reduce((all, one) => all + one.runs, 0),
            sums: sumsOf(of),
            first: times.length === 0 ? null : Math.min(...times),
            last: times.length === 0 ? null : Math.max(...times),
            examples: runs.map(({ workflowId }) => workflowId),
          };
        })
        .toSorted((one, other) => other.runs - one.runs || (one.group < other.group ? -1 : 1));
    },
    /** Returns the repair under way that has not retried this run of a workflow id yet. */
    repairOf: async (workflowId: string, runId: string): Promise<FailedRun["repair"]> =>
      (await readRepairs(store, [workflowId])).find(({ run }) => run === runId),
    /** Returns failed runs that match, the latest end first, each with its writes and those of its children. */
    failedRuns: async (filter: RunFilter, limit: number): Promise<ReadonlyArray<FailedRun>> => {
      const where = await failed(filter);
      const runs = await store.all(RUNS, where, "ORDER BY ended_at DESC, workflow_id", limit);
      const writes: Array<SqlRow> = [];
      const byId = new Map<string, FailedRun["repair"]>();
      for (const part of chunksOf(runs, READ_AT_ONCE)) {
        const ids = part.map(({ workflowId }) => workflowId);
        writes.push(...(await store.find(rowsOfAny(toJson(ids), database.dialect))));
        for (const row of await readRepairs(store, ids))
          byId.set(`${row.run} ${row.workflowId}`, row);
      }
      const byRun = Map.groupBy(writes, (row) => String(row["of_run"]));
      const rowsOf = (id: string) => (byRun.get(id) ?? []).map((row) => readRecorded(row, seal));
      return runs.map((run) => ({
        run,
        rows: rowsOf(run.workflowId),
        repair: byId.get(`${run.runId} ${run.workflowId}`),
      }));
    },
  };
};
