import type { Ledger, NewRun } from "./ledger.ts";
import { LEASES, RUNS, WAITS } from "./schema.ts";
import type { Seal } from "./seal.ts";
import { chunks, Conditions, type Database, query, type Query } from "./sql.ts";
import { Expression } from "./table.ts";

/** Records runs: what is known stays, but for the run id, and what was null is filled in. */
export const saveRuns = (
  runs: ReadonlyArray<NewRun>,
  startedAt: Expression | number,
  seal: Seal,
): Query =>
  RUNS.save(
    runs.map((run) => ({ ...run, startedAt })),
    seal,
    (name) =>
      name === "run_id"
        ? "coalesce(excluded.run_id, runs.run_id)"
        : `coalesce(runs.${name}, excluded.${name})`,
  );

/** Runs, what they wait for, and leases. */
export const runMethods = (
  database: Database,
  seal: Seal,
): Pick<Ledger, "noteRun" | "noteRuns" | "runs" | "openWait" | "waits" | "closeWait" | "lease"> => {
  const now = new Expression(database.dialect.now);

  const runs: Ledger["runs"] = async ({ account, batch, limit, startedBefore, workflowIds }) => {
    const queries = (workflowIds === undefined ? [undefined] : chunks(workflowIds)).map((some) =>
      new Conditions()
        .among("workflow_id", some)
        .where("account = ?", account)
        .where("batch = ?", batch)
        .where("started_at < ?", startedBefore)
        .query("SELECT * FROM runs", "ORDER BY started_at DESC, workflow_id", limit),
    );
    return queries.length === 0
      ? []
      : (await database.read(queries)).flat().map((run) => RUNS.read(run, seal));
  };

  return {
    noteRun: (run) =>
      database.write(run.workflowId, [], () => ({
        value: undefined,
        writes: [saveRuns([run], now, seal)],
      })),
    noteRuns: async (all) => {
      // One statement cannot change the same row twice.
      const distinct = [...new Map(all.map((run) => [run.workflowId, run])).values()].toSorted(
        (one, other) => (one.workflowId < other.workflowId ? -1 : 1),
      );
      if (distinct.length === 0) return;
      await database.write("runs", [], () => ({
        value: undefined,
        writes: chunks(distinct).map((some) => saveRuns(some, now, seal)),
      }));
    },
    runs,
    openWait: async (wait) => {
      await database.change(
        // One that is open stays as it is.
        WAITS.save(
          [{ ...wait, since: now, closedAt: null, outcome: null }],
          seal,
          undefined,
          "WHERE waits.closed_at IS NOT NULL",
        ),
      );
    },
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
      return found.map((wait) => WAITS.read(wait, seal));
    },
    closeWait: async ({ account, activityId, runId, workflowId }, outcome) => {
      const closed = await database.change(
        query(
          `UPDATE waits SET closed_at = ${now.sql}, outcome = $1 WHERE workflow_id = $2
           AND run_id = $3 AND activity_id = $4 AND account = $5 AND closed_at IS NULL RETURNING since`,
          WAITS.fields.outcome.write(outcome, seal),
          workflowId,
          runId,
          activityId,
          account,
        ),
      );
      return closed.length > 0;
    },
    lease: async (name, holder, ms) => {
      const until = new Expression(`${now.sql} + ${Math.round(ms)}`);
      const ifFree = `WHERE leases.holder = excluded.holder OR leases.until <= ${now.sql} RETURNING *`;
      const save = LEASES.save([{ name, holder, until }], seal, undefined, ifFree);
      const [taken] = await database.change(save);
      if (taken !== undefined) return LEASES.read(taken, seal);
      const [held = []] = await database.read([
        query("SELECT * FROM leases WHERE name = $1", name),
      ]);
      return held[0] === undefined ? { holder: "", until: 0 } : LEASES.read(held[0], seal);
    },
  };
};
