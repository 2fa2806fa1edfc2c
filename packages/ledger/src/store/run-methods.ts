import type { Ledger } from "./ledger.ts";
import { LEASES, RUNS, WAITS } from "./schema.ts";
import { query } from "./sql.ts";
import type { Store } from "./store.ts";

/** What is known of a run stays, but for the run id, and what was null is filled in. */
export const saveRun = (startedAt?: string) =>
  RUNS.saver(startedAt === undefined ? undefined : { startedAt }, (name) =>
    name === "run_id"
      ? "coalesce(excluded.run_id, runs.run_id)"
      : `coalesce(runs.${name}, excluded.${name})`,
  );

/** Runs, what they wait for, and leases. */
export const runMethods = (store: Store) => {
  const { database, seal } = store;
  const { now } = database.dialect;
  const save = saveRun(now);
  // One that is open stays as it is.
  const open = WAITS.saver({ since: now }, undefined, "WHERE waits.closed_at IS NOT NULL");
  return {
    noteRun: (run) => store.save(run.workflowId, [save(run, seal)]),
    noteRuns: (all) => {
      // In one order, so that no two workers wait for each other.
      const runs = all.toSorted((one, other) => (one.workflowId < other.workflowId ? -1 : 1));
      return store.save(
        "runs",
        runs.map((run) => save(run, seal)),
      );
    },
    runs: ({ account, batch, limit, startedBefore, workflowIds }) =>
      store.all(
        RUNS,
        {
          workflow_id: workflowIds,
          "account = ?": account,
          "batch = ?": batch,
          "started_at < ?": startedBefore,
        },
        "ORDER BY started_at DESC, workflow_id",
        limit,
      ),
    openWait: async (wait) => {
      await database.change(open({ ...wait, closedAt: null, outcome: null }, seal));
    },
    waits: ({ account, isOpen, kind, limit, runId, workflowId }) =>
      store.all(
        WAITS,
        {
          "closed_at IS NULL": isOpen === true,
          "closed_at IS NOT NULL": isOpen === false,
          "account = ?": account,
          "workflow_id = ?": workflowId,
          "run_id = ?": runId,
          "kind = ?": kind,
        },
        "ORDER BY since, workflow_id, activity_id",
        limit,
      ),
    closeWait: async ({ account, activityId, runId, workflowId }, outcome) => {
      const closed = await database.change(
        query(
          `UPDATE waits SET closed_at = ${now}, outcome = $1 WHERE workflow_id = $2
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
      const until = `${now} + ${Math.round(ms)}`;
      const ifFree = `WHERE leases.holder = excluded.holder OR leases.until <= ${now} RETURNING *`;
      const take = LEASES.saver({ until }, undefined, ifFree)({ name, holder }, seal);
      const [taken] = await database.change(take);
      const [held] =
        taken === undefined
          ? await store.all(LEASES, { "name = ?": name })
          : [LEASES.read(taken, seal)];
      return held ?? { holder: "", until: 0 };
    },
  } satisfies Partial<Ledger>;
};
