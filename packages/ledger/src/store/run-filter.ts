import { PERSON_MARK } from "@durable-payments/client/values";
import type { RunStatus } from "./schema.ts";
import type { Database, Where } from "./store.ts";
import { type SqlValue, toJson } from "./table.ts";

/*
 * The same question about runs has one answer on every screen.
 *
 * A run pays by its own writes that move money; until it has one, by the payment that it plans. So there are two kinds
 * of conditions. Some are about the run: its status, type, batch. The others are about one payment: its account, payee,
 * age. A run matches if it and one of its payments match; sums add the payments that match, of the runs that match.
 */

/** Conditions on runs and their payments; all fields are optional. Times: milliseconds since 1970 by the ledger's clock. */
export interface RunFilter {
  /** Any of these; a run that would be running waits for the approval of its file, or is paused while its sends are. */
  readonly statuses?: ReadonlyArray<RunStatus | "paused"> | undefined;
  /** Workflow type. */
  readonly type?: string | undefined;
  readonly batch?: string | undefined;
  /** Started at this time or later. */
  readonly since?: number | undefined;
  /** Started before. */
  readonly until?: number | undefined;
  /** Workflow id or key, or the beginning of one; the id of a key's payment; or the service's id of a result. */
  readonly find?: string | undefined;
  /** Type of its failure, or a part of the reason, in any case. */
  readonly error?: string | undefined;
  /** The step that failed. */
  readonly step?: string | undefined;
  /** Name of a group of failures. */
  readonly group?: string | undefined;
  /** Runs that this repair has as rows. */
  readonly repair?: string | undefined;
  readonly account?: string | undefined;
  /** ISO 4217 code in capitals. */
  readonly currency?: string | undefined;
  /** Any of these: ids and marks, as the ledger has them. */
  readonly payees?: ReadonlyArray<string> | undefined;
  readonly reference?: string | undefined;
  /** Payouts that are late: see `isLate`. */
  readonly lateAt?: number | undefined;
  /** Payments that were begun at this time or later; a planned one begins with its run. */
  readonly paidSince?: number | undefined;
  /** Payments that were begun before. */
  readonly paidUntil?: number | undefined;
}

/** A day in milliseconds. */
export const DAY_MS = 86_400_000;

/** The day of a time, UTC. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Returns since when a payout with a payment date is late, in milliseconds. */
export const lateSince = (paymentDate: string, lateAfterMs: number): number =>
  Date.parse(`${paymentDate}T00:00:00Z`) + DAY_MS + lateAfterMs;

/**
 * Returns the condition that a payout is late at a time, whose day is `day`. It is under way, and its payment date was over;
 * or it was made before the time and shows a word that nobody has listed. Otherwise the word would never be noticed.
 */
const isLate = (table: string, day: string, time: string): string =>
  `${table}.standing = 'made' AND (${table}.payment_date < ${day} OR (${table}.word_unlisted = 1 AND ${table}.changed_at < ${time}))`;

/**
 * The payments of all runs, in two relations: their writes that move money, and the planned payments of runs that have
 * none yet. A planned payment counts as a write that would be: not sent yet, or stopped before it was. SQLite uses no
 * index inside of one relation that has both.
 */
export const PAYMENTS = [
  `(SELECT owner_id AS run, operation, standing, account, amount, currency, payee, payee AS alias, payee AS named_as, reference,
   created_at AS begun, payment_date, word, word_unlisted, word_asks, changed_at FROM writes WHERE amount IS NOT NULL) AS payments`,
  `(SELECT workflow_id AS run, CASE WHEN type = 'onboardCardholder' OR substr(payee, 1, ${PERSON_MARK.length}) = '${PERSON_MARK}'
   THEN 'createCard' ELSE 'createPayout' END AS operation,
   planned AS standing, account, amount, currency, payee, alias, coalesce(named_as, payee) AS named_as, reference, started_at AS begun, NULL AS payment_date, NULL AS word, 0 AS word_unlisted, 0 AS word_asks,
   started_at AS changed_at FROM runs WHERE planned IS NOT NULL) AS payments`,
] as const;

const HAS_PAUSE = `EXISTS (SELECT 1 FROM pauses WHERE scope = 'all'
  OR (scope = 'run' AND of = runs.workflow_id) OR (scope = 'batch' AND of = runs.batch))`;

/** The row of a file that no person has approved yet. */
const IS_FILED = `(runs.run_id IS NULL AND EXISTS (SELECT 1 FROM batches
  WHERE batches.id = runs.batch AND batches.state IN ('uploading', 'reading', 'needsApproval')))`;

/** A part of a status, which the index of runs has in order: a run needs approval itself, or its file does. */
type StatusPart = RunStatus | "paused" | "itself" | "file";

/** Returns the parts of a status. */
export const partsOf = (status: StatusPart): ReadonlyArray<StatusPart> =>
  status === "approval" ? ["itself", "file"] : [status];

const PARTS: Readonly<Partial<Record<StatusPart, readonly [RunStatus, condition: string]>>> = {
  itself: ["approval", ""],
  file: ["running", ` AND ${IS_FILED}`],
  paused: ["running", ` AND ${HAS_PAUSE} AND NOT ${IS_FILED}`],
  running: ["running", ` AND NOT ${HAS_PAUSE} AND NOT ${IS_FILED}`],
};

/** The end of the name of a group that has no recorded failure. */
export const NO_GROUP = "none";

/** Splits the name of a group into the type of its runs and their `endGroup`. */
const partsOfGroup = (name: string): readonly [type: string, group: string] => {
  const at = Math.max(0, name.lastIndexOf("-"));
  return [name.slice(0, at), name.slice(at + 1)];
};

/** Returns the conditions on runs alone. `ids`: the runs whose reason matches. */
export const runConditions = (
  {
    batch,
    find,
    group,
    repair,
    since,
    statuses = [],
    step,
    type,
    until,
  }: Omit<RunFilter, "statuses"> & { readonly statuses?: ReadonlyArray<StatusPart> | undefined },
  ids: ReadonlyArray<string> | undefined,
): Where => ({
  ...(statuses.length > 0 && {
    [`(${statuses
      .flatMap(partsOf)
      .map((part) => `(runs.status = ?${PARTS[part]?.[1] ?? ""})`)
      .join(" OR ")})`]: statuses.flatMap(partsOf).map((part) => PARTS[part]?.[0] ?? part),
  }),
  "runs.type = ?": type,
  "runs.batch = ?": batch,
  "runs.end_step = ?": step,
  [`(runs.type = ? AND coalesce(runs.end_group, '${NO_GROUP}') = ?)`]: group && partsOfGroup(group),
  "runs.workflow_id IN (SELECT workflow_id FROM batch_rows WHERE batch = ?)": repair,
  "runs.started_at >= ?": since,
  "runs.started_at < ?": until,
  ...(find !== undefined && {
    [`(substr(runs.workflow_id, 1, length(?)) = ? OR substr(runs.workflow_id, 1, length(runs.type) + 1 + length(?)) = runs.type || '/' || ?
      OR runs.workflow_id IN (SELECT owner_id FROM writes WHERE made_id = ? UNION SELECT owner_id FROM writes WHERE workflow_id = ?))`]:
      [find, find, find, find, find, find],
  }),
  "runs.workflow_id": ids,
});

/** Returns the conditions on payments. */
export const paymentConditions = (
  { account, currency, lateAt, paidSince, paidUntil, payees, reference }: RunFilter,
  { among }: Database["dialect"],
): Readonly<Record<string, SqlValue | ReadonlyArray<SqlValue> | undefined>> => {
  const list = payees && toJson(payees);
  return {
    "payments.account = ?": account,
    "payments.currency = ?": currency,
    "payments.reference = ?": reference,
    "payments.begun >= ?": paidSince,
    "payments.begun < ?": paidUntil,
    [`(${among("payments.payee", "?")} OR ${among("payments.alias", "?")})`]: list && [list, list],
    [isLate("payments", "?", "?")]: lateAt === undefined ? undefined : [dayOf(lateAt), lateAt],
  };
};

/** Few payments match, so they are found before their runs. */
export const isFew = ({ lateAt, payees }: RunFilter): boolean =>
  lateAt !== undefined || payees !== undefined;
