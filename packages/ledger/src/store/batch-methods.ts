import { batchLogId } from "../model/gate.ts";
import { NOT_PAID, outcomeReason } from "../model/standing.ts";
import type { BatchRow, ListedRow, NewBatch } from "./ledger.ts";
import type { NewDecision } from "./log.ts";
import {
  type Batch,
  BATCH_COUNT,
  BATCH_ROWS,
  BATCHES,
  type BatchRowState,
  ROW_OUTCOME,
  RUNS,
} from "./schema.ts";
import { listed, query, readFields } from "./table.ts";
import { OPEN_STATUSES, PURPOSE, refreshStatus } from "./run-status.ts";
import { MOST_KEYS, type Store, type Where } from "./store.ts";
import { chunksOf } from "effect/Array";

const WAITING = { "state = 'waiting'": true };

/** These rows. The bounds use the primary key. */
const amongNumbers = (numbers: ReadonlyArray<number>): Where => ({
  "number BETWEEN ? AND ?": [Math.min(...numbers), Math.max(...numbers)],
  "CAST(number AS TEXT)": numbers.map(String),
});

/** No run of a rejected row has begun. */
const NEVER_STARTED = `run_id IS NULL AND end_state IS NULL AND EXISTS (SELECT 1 FROM batch_rows
  WHERE batch_rows.batch = runs.batch AND number = runs.batch_row AND state = 'rejected')`;

/**
 * The outcome of a row: from the batch if it was not started, otherwise from its run. A row that a repair has just taken
 * still has its failed run, whose outcome is not the row's. The id of a rejected row is free: the
 * same payment of a newer file or a single start covers it, and a person's own retry covers the row of a repair.
 */
const STATUS = `CASE WHEN batch_rows.state = 'waiting' THEN 'notStarted'
  WHEN batch_rows.state = 'started' AND runs.run_id = batch_rows.run THEN 'running'
  WHEN batch_rows.state = 'started' THEN coalesce(runs.status, 'running')
  WHEN batch_rows.state = 'rejected' AND runs.workflow_id IS NOT NULL
   AND CASE WHEN batch_rows.run IS NULL THEN coalesce(runs.batch, '') <> batch_rows.batch ELSE runs.run_id <> batch_rows.run END
  THEN 'covered' ELSE batch_rows.state END`;

const SENT = ["amount", "currency", "payee", "reference"];

/** Whether a run pays the same as a row. */
const IS_SAME = SENT.map(
  (name) => `coalesce(runs.${name}, '') = coalesce(batch_rows.${name}, '')`,
).join(" AND ");

/** The account of a row's payment: a repair may have runs of several. */
const PAYS = "CASE WHEN batch_rows.run IS NULL THEN batches.account ELSE runs.account END";

/**
 * The payments of a row, also if another file or a single start has made them; and the cardholder that its run has created. A
 * user's own workflow, which only a repair has, may make several. A rejected row of a file has none of another payment,
 * although that may have its id. The run of a row of a repair is always its own, also if a person has retried it.
 */
const PAYMENTS = `batch_rows LEFT JOIN batches ON batches.id = batch_rows.batch
  LEFT JOIN runs ON runs.workflow_id = batch_rows.workflow_id
   AND (batch_rows.state <> 'rejected' OR batch_rows.run IS NOT NULL OR runs.batch = batch_rows.batch OR (${IS_SAME}))
  LEFT JOIN writes ON (writes.workflow_id = runs.workflow_id AND writes.step = ${PURPOSE} AND writes.account = ${PAYS})
   OR (${PURPOSE} IS NULL AND writes.owner_id = runs.workflow_id AND writes.amount IS NOT NULL)
  LEFT JOIN writes AS holder ON holder.workflow_id = runs.workflow_id AND holder.step = 'createCardholder'
   AND holder.account = ${PAYS}`;

/** The run of the row of a repair is still the one that has failed: its outcome is not the row's. */
const IS_UNRETRIED = `(batch_rows.run IS NOT NULL AND (batch_rows.state = 'waiting'
  OR (batch_rows.state = 'started' AND runs.run_id = batch_rows.run)))`;

/** The sent value; before that, the value that the run plans, which an amendment may have changed or will change. */
const sent = (
  name: string,
): string => `CASE WHEN ${IS_UNRETRIED} AND batch_rows.terms <> '' AND ${PURPOSE} IS NOT NULL
  THEN batch_rows.${name} ELSE coalesce(writes.${name}, runs.${name}, batch_rows.${name}) END`;

/** Ranks the payments of one run: those that may still change come first, and paid ones before those that were not. */
const BY_WEIGHT =
  "unknown asking approval open made completed returned failed refused stopped undone".split(" ");

const RANK = (of: string): string =>
  `CASE ${of}.standing ${BY_WEIGHT.map((standing, at) => `WHEN '${standing}' THEN ${at}`).join(" ")} END`;

/** The first later repair that has retried the run of a row again. */
const RETRIED_BY = `(SELECT later.batch FROM batch_rows AS later JOIN batches AS of_later ON of_later.id = later.batch
  WHERE batch_rows.run IS NOT NULL AND batch_rows.state = 'started' AND later.workflow_id = batch_rows.workflow_id
  AND later.run IS NOT NULL AND later.run <> batch_rows.run AND later.state = 'started'
  AND of_later.created_at >= batches.created_at AND of_later.id <> batches.id ORDER BY of_later.created_at LIMIT 1)`;

/** A row with several payments counts once. */
const IS_FIRST = `(${PURPOSE} IS NOT NULL OR writes.step IS NULL OR (writes.workflow_id, writes.step, writes.account) =
  (SELECT own.workflow_id, own.step, own.account FROM writes AS own WHERE own.owner_id = runs.workflow_id
  AND own.amount IS NOT NULL ORDER BY ${RANK("own")}, own.workflow_id, own.step, own.account LIMIT 1))`;

const AMONG_NOT_PAID = `IN ${listed(NOT_PAID)}`;

const STANDING = `CASE WHEN ${IS_UNRETRIED} AND coalesce(writes.standing, runs.planned) ${AMONG_NOT_PAID} THEN 'open'
  ELSE coalesce(writes.standing, runs.planned, CASE batch_rows.state WHEN 'rejected' THEN 'stopped' ELSE 'open' END) END`;

const IS_NOT_PAID = `(${STATUS} = 'covered' OR ${STANDING} ${AMONG_NOT_PAID} OR ${RETRIED_BY} IS NOT NULL)`;

/** The description of the payee that a run plans to pay, or has created. */
const NAMED_AS = `CASE WHEN ${sent("payee")} = runs.payee THEN runs.named_as ELSE
  (SELECT CASE WHEN own.payee = runs.payee THEN coalesce(runs.named_as, own.payee) ELSE own.payee END FROM writes AS own
  WHERE own.workflow_id = batch_rows.workflow_id AND own.operation IN ('createBeneficiary', 'createCardholder')
  AND own.account = writes.account AND own.made_id = writes.payee LIMIT 1) END`;

/** The file describes the payee that it names, and not the one of an amendment. */
const SHOWN = `CASE WHEN ${sent("payee")} = batch_rows.payee OR EXISTS (SELECT 1 FROM writes AS own
  WHERE own.workflow_id = batch_rows.workflow_id AND own.operation IN ('createBeneficiary', 'createCardholder')
  AND own.account = writes.account AND own.made_id = writes.payee AND own.payee = batch_rows.mark) THEN batch_rows.shown END`;

const saveBatch = BATCHES.saver();
const addRow = BATCH_ROWS.inserter([], undefined, "ON CONFLICT DO NOTHING");

/** Files of payments or cardholders, and their rows. */
export const batchMethods = (store: Store) => {
  const { database, seal } = store;
  /** Rejects rows that were never started, and ends their runs. */
  const reject = async (batch: string, message: string, which: Where): Promise<void> => {
    const of = { "batch = ?": batch, ...which };
    const rows = await store.all(BATCH_ROWS, of);
    for (const part of chunksOf(rows, MOST_KEYS)) {
      const ids = part.map(({ workflowId }) => workflowId);
      const end = store.where(
        `UPDATE runs SET end_state = 'cancelled', ended_at = ${database.dialect.now}, end_reason = $1`,
        { workflow_id: ids, "batch = ?": batch, [NEVER_STARTED]: true },
        "",
        undefined,
        [RUNS.fields.endReason.write(message, seal)],
      );
      const to = { state: "rejected", message } as const;
      const change = store.update(BATCH_ROWS, to, { workflow_id: ids, ...of });
      await store.save([`batch ${batch}`, ...ids], [change, end, refreshStatus(store, ids)]);
    }
  };
  return {
    /** Creates or changes a batch in one transaction, and returns it. `change` is pure, and throws to refuse. */
    saveBatch: (
      id: string,
      change: (batch: Batch | undefined) => {
        readonly batch: NewBatch;
        readonly decision?: NewDecision;
      },
    ): Promise<Batch> => {
      // Decisions on a batch have a separate chain.
      const workflowId = batchLogId(id);
      const select = query("SELECT * FROM batches WHERE id = $1", id);
      // Not shared, because the fence of its runs reads its approval.
      return store.logged(null, workflowId, [select], ([batches = []], log) => {
        const [before] = batches.map((found) => BATCHES.read(found, seal));
        const { batch: given, decision } = change(before);
        const { createdAt = log.now, finishedAt = null, notifyOf = null } = before ?? {};
        const batch = { ...given, id, createdAt, finishedAt, notifyOf };
        if (decision !== undefined) {
          log.decision({ ...decision, workflowId });
          batch.notifyOf = log.sequence + 1;
        }
        return { value: batch, writes: [saveBatch(batch, seal)] };
      });
    },
    /** Saves rows of a batch, many at once; existing rows are unchanged. */
    saveRows: (batch: string, rows: ReadonlyArray<BatchRow>) =>
      store.save(
        `batch ${batch}`,
        rows.map((row) => addRow({ ...row, batch }, seal)),
      ),
    /** Marks waiting rows of an approved batch as started, before their start. @returns the marked rows. */
    claimRows: async (batch: string, numbers: ReadonlyArray<number>) => {
      if (numbers.length === 0) return [];
      const of = {
        "batch = ?": batch,
        ...WAITING,
        ...amongNumbers(numbers),
        "EXISTS (SELECT 1 FROM batches WHERE id = batch AND batches.state = 'approved')": true,
      };
      const claim = store.update(BATCH_ROWS, { state: "started" }, of, "RETURNING number");
      const claimed = await store.writeReturning(`batch ${batch}`, claim);
      return claimed.map((row) => Number(row["number"])).toSorted((one, next) => one - next);
    },
    /**
     * Rejects all waiting rows of a stopped batch, and ends their runs, which were never started. The person who stops it
     * does so, and its worker, which may be first. So the reason is that of the decision, and the number that of all.
     *
     * @returns the number of rejected rows, also of those that were rejected before.
     */
    rejectRows: async (batch: string): Promise<number> => {
      const of = { "batch = ?": batch };
      const decisions = await store.decisions(batchLogId(batch));
      const { by, kind, reason } =
        decisions.findLast(({ kind }) => kind === "cancel" || kind === "reject") ?? {};
      const message = `${kind === "reject" ? "rejected" : "stopped"} by ${by ?? "a person"}: ${reason ?? "no reason"}`;
      await reject(batch, message, WAITING);
      const count = "SELECT count(*) AS count FROM batch_rows";
      const [found] = await store.find(store.where(count, { ...of, "state = 'rejected'": true }));
      return Number(found?.["count"]);
    },
    /** Rejects a row that was taken, and whose run can never be started. */
    refuseRow: (batch: string, number: number, message: string): Promise<void> =>
      reject(batch, message, { "number = ?": number }),
    /** Finishes an approved batch whose rows all have an outcome. */
    finishBatch: (id: string) =>
      store.save(`batch ${id}`, [
        query(
          `UPDATE batches SET state = 'finished', finished_at = ${database.dialect.now} WHERE id = $1 AND state = 'approved' AND NOT EXISTS
           (SELECT 1 FROM batch_rows LEFT JOIN runs ON runs.workflow_id = batch_rows.workflow_id
            WHERE batch_rows.batch = $1 AND (batch_rows.state = 'waiting' OR (batch_rows.state = 'started'
            AND ${STATUS} IN ${listed(OPEN_STATUSES)})))`,
          id,
        ),
      ]),
    /** Records that another file has started a row. */
    coverRow: (batch: string, number: number, message: string): Promise<void> => {
      const of = { "batch = ?": batch, "number = ?": number };
      const cover = store.update(BATCH_ROWS, { state: "covered", message }, of);
      return store.save(`batch ${batch} ${number}`, [cover]);
    },
    /**
     * Keeps the payee of waiting rows as the service shows it, or `message`: why it cannot be read. With the last
     * payee, the batch waits for its approval.
     */
    keepPayees: (
      batch: string,
      numbers: ReadonlyArray<number>,
      { mark, message = null, shown }: Pick<BatchRow, "mark" | "shown"> & Partial<BatchRow>,
    ): Promise<void> => {
      const of = { "batch = ?": batch, ...WAITING, ...amongNumbers(numbers) };
      const ask = `UPDATE batches SET state = 'needsApproval' WHERE id = $1 AND state = 'reading' AND NOT EXISTS
        (SELECT 1 FROM batch_rows WHERE batch = $1 AND state = 'waiting' AND shown IS NULL)`;
      const keep = store.update(BATCH_ROWS, { mark, shown, message }, of);
      return store.save(`batch ${batch}`, [keep, query(ask, batch)]);
    },
    /** Returns the numbers of the rows whose payee has not been paid before, by id or account. */
    newPayees: async ({ account, id }: Pick<Batch, "account" | "id">) => {
      const paid = "paid.account = $2 AND paid.operation = 'createPayout' AND paid.state = 'done'";
      const found = await store.find(
        query(
          `SELECT number FROM batch_rows WHERE batch = $1
           AND NOT EXISTS (SELECT 1 FROM writes paid WHERE ${paid} AND paid.payee = batch_rows.payee)
           AND NOT EXISTS (SELECT 1 FROM writes made JOIN writes paid ON paid.payee = made.made_id AND ${paid}
           WHERE made.account = $2 AND made.operation = 'createBeneficiary' AND made.payee = batch_rows.mark)`,
          id,
          account,
        ),
      );
      return new Set(found.map((row) => Number(row["number"])));
    },
    /** Records that the workflows of a batch were notified of the decision that `notifyOf` names, unless there is a later one. */
    batchNotified: ({ id, notifyOf }: Pick<Batch, "id" | "notifyOf">): Promise<void> => {
      const of = { "id = ?": id, "notify_of = ?": notifyOf ?? undefined };
      return store.save(`batch ${id}`, [store.update(BATCHES, { notifyOf: null }, of)]);
    },
    batch: async (id: string) => (await store.all(BATCHES, { "id = ?": id }))[0],
    /** Returns batches, newest first. */
    batches: (
      filter: {
        readonly states?: ReadonlyArray<Batch["state"]>;
        /** Those whose workflows have not been notified of a decision. */
        readonly mustNotify?: true;
        readonly limit?: number;
      } = {},
    ) =>
      store.all(
        BATCHES,
        {
          state: filter.states,
          "notify_of IS NOT NULL": filter.mustNotify,
        },
        "ORDER BY created_at DESC, id",
        filter.limit,
      ),
    /** Counts the rows of a batch, and adds up what was sent. */
    batchCounts: (id: string) => {
      const sum = database.dialect.sum(sent("amount"));
      return store.read(
        BATCH_COUNT,
        query(
          `SELECT ${STATUS} AS status, ${STANDING} AS standing, ${sent("currency")} AS currency,
           sum(CASE WHEN ${IS_FIRST} THEN 1 ELSE 0 END) AS rows,
           ${sum} AS amount FROM ${PAYMENTS} WHERE batch_rows.batch = $1 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
          id,
        ),
      );
    },
    /** Returns the rows of a batch after a number, in order, as the file has them. */
    batchRows: (
      id: string,
      filter: {
        readonly states?: ReadonlyArray<BatchRowState>;
        readonly after?: number;
        readonly limit?: number;
      } = {},
    ) =>
      store.all(
        BATCH_ROWS,
        { "batch = ?": id, "number > ?": filter.after, state: filter.states },
        "ORDER BY number",
        filter.limit,
      ),
    /** Returns the rows of a batch after a number, in order, with the outcome of each: a row for each payment of a user's own workflow. */
    listRows: async (
      id: string,
      filter: {
        /** Rows that it does not pay: their money says so, or another file has them. */
        readonly isNotPaid?: true;
        readonly after?: number;
        readonly limit?: number;
      } = {},
    ): Promise<ReadonlyArray<ListedRow>> => {
      // A result has the last of several columns of one name.
      const select = `SELECT batch_rows.*, ${SENT.map((name) => `${sent(name)} AS ${name}`).join(", ")}, ${SHOWN} AS shown,
        ${STATUS} AS status, CASE WHEN ${IS_UNRETRIED} THEN NULL ELSE runs.end_reason END AS end_reason,
        ${STANDING} AS standing, ${NAMED_AS} AS named_as, ${RETRIED_BY} AS retried_by, writes.operation, writes.made_id, holder.made_id AS holder_id,
         CASE WHEN runs.run_id IS NOT NULL THEN runs.started_at END AS started_at, runs.ended_at,
         coalesce(writes.account, ${PAYS}) AS account, writes.payment_date, writes.word, writes.outcome_at,
        CASE WHEN ${IS_UNRETRIED} THEN NULL ELSE writes.rest END AS rest FROM ${PAYMENTS}`;
      const where = {
        "batch_rows.batch = ?": id,
        "batch_rows.number > ?": filter.after,
        [IS_NOT_PAID]: filter.isNotPaid,
      };
      const rows = await store.find(
        store.where(
          select,
          where,
          `ORDER BY batch_rows.number, ${RANK("writes")}, writes.workflow_id, writes.step`,
          filter.limit,
        ),
      );
      return rows.map((found) => {
        const row = BATCH_ROWS.read(found, seal);
        const { rest, ...outcome } = readFields(ROW_OUTCOME, found, seal);
        const asked = rest?.question?.reason ?? rest?.message ?? outcome.endReason;
        return { ...row, ...outcome, reason: row.message ?? outcomeReason(outcome) ?? asked };
      });
    },
    /** Returns rows of any batch of the account with one of these fingerprints. */
    rowsWithFingerprints: (account: string, fingerprints: ReadonlyArray<string>) =>
      store.all(
        BATCH_ROWS,
        {
          "batch IN (SELECT id FROM batches WHERE account = ?)": account,
          fingerprint: fingerprints,
        },
        "ORDER BY (SELECT created_at FROM batches WHERE id = batch), number",
      ),
  };
};
