import type { Ledger, NewRun, RecordedWait, Run, Wait } from "./ledger.ts";
import { readObject } from "./log.ts";
import type { Lease, WaitName } from "./queries.ts";
import type { Seal } from "./seal.ts";
import {
  chunks,
  Conditions,
  type Database,
  numberOf,
  numberOrNull,
  query,
  type Query,
  type SqlRow,
  textOf,
  textOrNull,
  tuples,
} from "./sql.ts";

/** What is filled in where it was null, and stays where it was not. */
const KEPT = [
  "account",
  "started_by",
  "batch",
  "batch_row",
  "amount",
  "currency",
  "payee",
  "reference",
];

/** Returns the statement that records runs, where they are not known. */
export const saveRuns = (runs: ReadonlyArray<NewRun>, now: number): Query => {
  const { sql, values } = tuples(
    runs.map((run) => [
      run.workflowId,
      run.account,
      run.runId,
      run.type,
      run.startedBy,
      run.batch,
      run.batchRow,
      run.amount,
      run.currency,
      run.payee,
      run.reference,
      now,
    ]),
  );
  return {
    sql: `INSERT INTO runs (workflow_id, account, run_id, type, started_by, batch, batch_row, amount, currency, payee, reference, started_at)
      VALUES ${sql} ON CONFLICT (workflow_id) DO UPDATE SET run_id = coalesce(excluded.run_id, runs.run_id),
      ${KEPT.map((name) => `${name} = coalesce(runs.${name}, excluded.${name})`).join(", ")}`,
    values,
  };
};

const readRun = (found: SqlRow): Run => ({
  workflowId: textOf(found, "workflow_id"),
  account: textOrNull(found, "account"),
  runId: textOrNull(found, "run_id"),
  type: textOf(found, "type"),
  startedBy: textOrNull(found, "started_by"),
  batch: textOrNull(found, "batch"),
  batchRow: numberOrNull(found, "batch_row"),
  amount: textOrNull(found, "amount"),
  currency: textOrNull(found, "currency"),
  payee: textOrNull(found, "payee"),
  reference: textOrNull(found, "reference"),
  startedAt: numberOf(found, "started_at"),
});

const readWait = (found: SqlRow, seal: Seal): RecordedWait => {
  const outcome = textOrNull(found, "outcome");
  return {
    account: textOf(found, "account"),
    workflowId: textOf(found, "workflow_id"),
    runId: textOf(found, "run_id"),
    activityId: textOf(found, "activity_id"),
    // Only `openWait` writes it.
    kind: textOf(found, "kind") as Wait["kind"],
    thing: textOf(found, "thing"),
    since: numberOf(found, "since"),
    closedAt: numberOrNull(found, "closed_at"),
    outcome: outcome === null ? null : readObject(outcome, seal),
  };
};

const selectWait = ({ account, activityId, runId, workflowId }: WaitName): Query =>
  query(
    "SELECT * FROM waits WHERE workflow_id = $1 AND run_id = $2 AND activity_id = $3 AND account = $4",
    workflowId,
    runId,
    activityId,
    account,
  );

/** Runs, what they wait for, and leases. */
export const runMethods = (
  database: Database,
  seal: Seal,
): Pick<Ledger, "noteRun" | "noteRuns" | "runs" | "openWait" | "waits" | "closeWait" | "lease"> => {
  const { now } = database.dialect;
  const clock = query(`SELECT ${now} AS now`);
  const nowOf = ([found = {}]: ReadonlyArray<SqlRow>): number => numberOf(found, "now");

  const runs: Ledger["runs"] = async ({ account, batch, limit, startedBefore, workflowIds }) => {
    const queries = (workflowIds === undefined ? [undefined] : chunks(workflowIds)).map((some) =>
      new Conditions()
        .among("workflow_id", some)
        .where("account = ?", account)
        .where("batch = ?", batch)
        .where("started_at < ?", startedBefore)
        .query("SELECT * FROM runs", "ORDER BY started_at DESC, workflow_id", limit),
    );
    return queries.length === 0 ? [] : (await database.read(queries)).flat().map(readRun);
  };

  return {
    noteRun: (run) =>
      database.write(
        run.workflowId,
        [clock, query("SELECT * FROM runs WHERE workflow_id = $1", run.workflowId)],
        ([time = [], runsFound = []]) => {
          const startedAt = nowOf(time);
          const [before] = runsFound.map(readRun);
          const after: Run = before
            ? {
                ...before,
                account: before.account ?? run.account,
                runId: run.runId ?? before.runId,
                startedBy: before.startedBy ?? run.startedBy,
                batch: before.batch ?? run.batch,
                batchRow: before.batchRow ?? run.batchRow,
                amount: before.amount ?? run.amount,
                currency: before.currency ?? run.currency,
                payee: before.payee ?? run.payee,
                reference: before.reference ?? run.reference,
              }
            : { ...run, startedAt };
          return { value: after, writes: [saveRuns([run], startedAt)] };
        },
      ),
    noteRuns: async (all) => {
      // One statement cannot change the same row twice.
      const distinct = [...new Map(all.map((run) => [run.workflowId, run])).values()].toSorted(
        (one, other) => (one.workflowId < other.workflowId ? -1 : 1),
      );
      if (distinct.length === 0) return;
      await database.write("runs", [clock], ([time = []]) => ({
        value: undefined,
        writes: chunks(distinct).map((some) => saveRuns(some, nowOf(time))),
      }));
    },
    runs,
    openWait: (wait) =>
      database.write(wait.workflowId, [clock, selectWait(wait)], ([time = [], found = []]) => {
        const [before] = found.map((wait) => readWait(wait, seal));
        if (before?.closedAt === null) return { value: before, writes: [] };
        const since = nowOf(time);
        return {
          value: { ...wait, since, closedAt: null, outcome: null },
          writes: [
            query(
              `INSERT INTO waits (account, workflow_id, run_id, activity_id, kind, thing, since)
               VALUES ($1, $2, $3, $4, $5, $6, $7)
               ON CONFLICT (workflow_id, run_id, activity_id, account) DO UPDATE SET
               kind = excluded.kind, thing = excluded.thing, since = excluded.since, closed_at = NULL, outcome = NULL`,
              wait.account,
              wait.workflowId,
              wait.runId,
              wait.activityId,
              wait.kind,
              wait.thing,
              since,
            ),
          ],
        };
      }),
    waits: async ({ account, isOpen, kind, limit, runId, workflowId }) => {
      const [found = []] = await database.read([
        new Conditions()
          .when("closed_at IS NULL", isOpen === true)
          .when("closed_at IS NOT NULL", isOpen === false)
          .where("account = ?", account)
          .where("workflow_id = ?", workflowId)
          .where("run_id = ?", runId)
          .where("kind = ?", kind)
          .query("SELECT * FROM waits", "ORDER BY since, workflow_id, activity_id", limit),
      ]);
      return found.map((wait) => readWait(wait, seal));
    },
    closeWait: (name, outcome) =>
      database.write(name.workflowId, [clock, selectWait(name)], ([time = [], found = []]) => {
        if (found[0]?.["closed_at"] !== null) return { value: false, writes: [] };
        return {
          value: true,
          writes: [
            query(
              `UPDATE waits SET closed_at = $1, outcome = $2
               WHERE workflow_id = $3 AND run_id = $4 AND activity_id = $5 AND account = $6`,
              nowOf(time),
              seal.seal(JSON.stringify(outcome)),
              name.workflowId,
              name.runId,
              name.activityId,
              name.account,
            ),
          ],
        };
      }),
    lease: (name, holder, ms) =>
      database.write(
        `lease ${name}`,
        [clock, query("SELECT holder, until FROM leases WHERE name = $1", name)],
        ([time = [], found = []]) => {
          const at = nowOf(time);
          const [held] = found.map((lease): Lease => ({
            holder: textOf(lease, "holder"),
            until: numberOf(lease, "until"),
          }));
          if (held !== undefined && held.holder !== holder && held.until > at) {
            return { value: held, writes: [] };
          }
          return {
            value: { holder, until: at + ms },
            writes: [
              query(
                `INSERT INTO leases (name, holder, until) VALUES ($1, $2, $3)
                 ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until`,
                name,
                holder,
                at + ms,
              ),
            ],
          };
        },
      ),
  };
};
