import type { RunStatus } from "./schema.ts";
import type { Database } from "./store.ts";
import { type SqlValue, toJson } from "./table.ts";

/*
 * The same question about runs has one answer on every screen.
 *
 * A run pays by its own writes that move money; until it has one, by the payment that it plans. So there are two kinds of
 * conditions. Some are about the run: its status, type, batch. The others are about one payment: its account, payee, age. A
 * run matches if it and one of its payments match; sums add the payments that match, of the runs that match.
 */

/** Conditions on runs and their payments; all fields are optional. Times: milliseconds since 1970 by the ledger's clock. */
export interface RunFilter {
  /** Any of these; a paused run is a running one whose sends are paused. */
  readonly statuses?: ReadonlyArray<RunStatus | "paused"> | undefined;
  /** Workflow type. */
  readonly type?: string | undefined;
  readonly batch?: string | undefined;
  /** Started at this time or later. */
  readonly since?: number | undefined;
  /** Started before. */
  readonly until?: number | undefined;
  /** Workflow id or its beginning, or the service's id of a result. */
  readonly find?: string | undefined;
  /** Type of its failure, or a part of the reason, in any case. */
  readonly error?: string | undefined;
  readonly account?: string | undefined;
  /** ISO 4217 code in capitals. */
  readonly currency?: string | undefined;
  /** Any of these: ids and marks, as the ledger has them. */
  readonly payees?: ReadonlyArray<string> | undefined;
  readonly reference?: string | undefined;
  /** Payouts that the service has accepted and not completed, and whose day is over at this time. */
  readonly lateAt?: number | undefined;
  /** Payments that were begun at this time or later; a planned one begins with its run. */
  readonly paidSince?: number | undefined;
  /** Payments that were begun before. */
  readonly paidUntil?: number | undefined;
}

/** The day of a time, UTC. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

const IS_PAUSED = `(runs.status = 'running' AND EXISTS (SELECT 1 FROM pauses WHERE scope = 'all'
  OR (scope = 'run' AND of = runs.workflow_id) OR (scope = 'batch' AND of = runs.batch)))`;

/** Conditions of one statement, and the values that they name. */
export const conditions = (filter: RunFilter, { among }: Database["dialect"]) => {
  const values: Array<SqlValue> = [];
  const at = (value: SqlValue): string => `$${values.push(value)}`;
  const is = (part: string, value: SqlValue | undefined): ReadonlyArray<string> =>
    value === undefined ? [] : [`${part} ${at(value)}`];
  const isPayee = (columns: ReadonlyArray<string>): ReadonlyArray<string> =>
    filter.payees === undefined
      ? []
      : [`(${columns.map((column) => among(column, at(toJson(filter.payees)))).join(" OR ")})`];
  const ofPayment = (table: "writes" | "runs", begun: string): ReadonlyArray<string> => [
    ...is(`${table}.account =`, filter.account),
    ...is(`${table}.currency =`, filter.currency),
    ...is(`${table}.reference =`, filter.reference),
    ...is(`${begun} >=`, filter.paidSince),
    ...is(`${begun} <`, filter.paidUntil),
  ];
  const hasStatus = (status: RunStatus | "paused"): string =>
    status === "paused" ? IS_PAUSED : `runs.status = ${at(status)}`;
  return {
    values,
    at,
    /** Writes that move money, and match. */
    writes: (): string =>
      [
        "writes.amount IS NOT NULL",
        ...ofPayment("writes", "writes.created_at"),
        ...isPayee(["writes.payee"]),
        ...(filter.lateAt === undefined
          ? []
          : ["writes.standing = 'made'", ...is("writes.payment_date <", dayOf(filter.lateAt))]),
      ].join(" AND "),
    /** Runs whose payment is only planned, and matches. */
    planned: (): string =>
      [
        "runs.is_planned = 1",
        ...ofPayment("runs", "runs.started_at"),
        ...isPayee(["runs.payee", "runs.alias"]),
        ...(filter.lateAt === undefined ? [] : ["1 = 0"]),
      ].join(" AND "),
    /** Runs that match, whatever they pay. */
    runs: (
      statuses: RunFilter["statuses"],
      ids: ReadonlyArray<string> | undefined,
    ): ReadonlyArray<string> => [
      ...(statuses === undefined ? [] : [`(${statuses.map(hasStatus).join(" OR ")})`]),
      ...is("runs.type =", filter.type),
      ...is("runs.batch =", filter.batch),
      ...is("runs.started_at >=", filter.since),
      ...is("runs.started_at <", filter.until),
      ...(filter.find === undefined
        ? []
        : [
            `(substr(runs.workflow_id, 1, ${filter.find.length}) = ${at(filter.find)} OR runs.workflow_id IN (SELECT owner_id FROM writes WHERE made_id = ${at(filter.find)}))`,
          ]),
      ...(ids === undefined ? [] : [among("runs.workflow_id", at(toJson(ids)))]),
    ],
  };
};

/** Whether one of the conditions on payments is set. */
export const asksPayment = (filter: RunFilter): boolean =>
  [
    filter.account,
    filter.currency,
    filter.reference,
    filter.payees,
    filter.lateAt,
    filter.paidSince,
    filter.paidUntil,
  ].some((one) => one !== undefined);

/** Whether one of the conditions on runs is set. */
export const asksRun = ({ batch, error, find, since, statuses, type, until }: RunFilter): boolean =>
  [batch, error, find, since, statuses, type, until].some((one) => one !== undefined);

/** Few payments match, so they are found before their runs. */
export const isFew = ({ lateAt, payees }: RunFilter): boolean =>
  lateAt !== undefined || payees !== undefined;
