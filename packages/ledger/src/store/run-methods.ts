import { groupOf } from "../model/failure-group.ts";
import type { JsonObject } from "../model/row.ts";
import { readIntervalMs } from "../model/reading-schedule.ts";
import type {
  Decision,
  EndedWait,
  NewRun,
  NewStart,
  NewWait,
  PlannedOfRun,
  RunEnd,
  Wait,
} from "./ledger.ts";
import { endAmong, onWhole, readDecision, selectDecisions } from "./log.ts";
import { descriptionOf, rememberPayees } from "./payees.ts";
import { HAS_ENDED, HAS_NOT_BEGUN, refreshEnds, refreshStatus } from "./run-status.ts";
import { LEASES, type Run, RUNS, WAITS } from "./schema.ts";
import { chunksOf } from "effect/Array";
import { query, type Query, type Seal, toJson } from "./table.ts";
import { MOST_KEYS, type Store } from "./store.ts";

/** The schedule of the payout reads for it: until its outcome is seen, or until its money came back. */
const IS_FOLLOWED = `EXISTS (SELECT 1 FROM writes WHERE writes.account = waits.account
  AND operation = 'createPayout' AND made_id = waits.thing AND (standing = 'made'
  OR (kind = 'return' AND standing = 'completed' AND writes.read_after IS NOT NULL)))`;

/** Excludes that a run begins to wait while the outcome of its payout is recorded: neither would see the other. */
export const payoutKey = (madeId: string): string => `payout ${madeId}`;

/** Longest interval of readings for a wait whose payout nobody watches. */
const LONGEST_FOR_RETURN_MS = 6 * 3_600_000;

/** Its file was rejected or cancelled before it was started: nothing was ever sent under its id. */
const NEVER_STARTED = "(runs.run_id IS NULL AND runs.end_state = 'cancelled')";

/** Returns whether the file of a run was rejected or cancelled before it started it. */
export const wasNeverStarted = ({ endState, runId }: Pick<Run, "endState" | "runId">): boolean =>
  runId === null && endState === "cancelled";

/** The id is started after all, for another file or alone: from now on, it is that payment. */
const TAKES_OVER = `(${NEVER_STARTED} AND excluded.started_by IS NOT NULL
  AND coalesce(excluded.batch, '') <> coalesce(runs.batch, ''))`;

/** Another run of the id has begun, or Temporal knows it after all: the run is open again. */
const REOPENS = `(excluded.run_id <> runs.run_id OR runs.end_state = 'missing' OR ${TAKES_OVER}
  OR (${NEVER_STARTED} AND excluded.run_id IS NOT NULL))`;

const changeOfRun = (field: string, name: string): string => {
  if (field === "runId") return "coalesce(excluded.run_id, runs.run_id)";
  if (field === "startedAt")
    return `CASE WHEN ${TAKES_OVER} OR (${HAS_NOT_BEGUN} AND excluded.run_id IS NOT NULL) THEN excluded.started_at ELSE runs.started_at END`;
  if (field === "planned") return "CASE WHEN excluded.planned IS NOT NULL THEN runs.planned END";
  return field.startsWith("end")
    ? `CASE WHEN ${REOPENS} THEN NULL ELSE runs.${name} END`
    : `CASE WHEN ${TAKES_OVER} THEN excluded.${name} ELSE coalesce(runs.${name}, excluded.${name}) END`;
};

/** An open run. */
const OPEN: Partial<Run> = {
  endState: null,
  endedAt: null,
  endType: null,
  endReason: null,
  endStep: null,
  endFacts: null,
  endGroup: null,
};

type StartedRun = Pick<
  Run,
  "account" | "isStopped" | "planned" | "runId" | "startedAt" | "type" | "workflowId"
>;

const save = RUNS.saver({}, changeOfRun);

/**
 * Known values of a run stay, except the run id; null values are filled in. If it was known, its status has to be
 * refreshed.
 */
export const saveRun = (run: StartedRun & Partial<Run>, seal: Seal): Query =>
  save({ status: run.isStopped ? "ended" : "running", ...run }, seal);

/** The outcome of a wait in one word. */
const wordOf = ({ outcome }: JsonObject): string | null =>
  typeof outcome === "string" ? outcome : null;

const isStart = (decision: Decision, { by, value }: NewStart): boolean =>
  decision.kind === "start" && decision.by === by && toJson(decision.value) === toJson(value);

/** Its file has started it, or it belongs to no file. */
const NOT_FILED = `NOT EXISTS (SELECT 1 FROM batch_rows WHERE batch_rows.batch = runs.batch
  AND number = runs.batch_row AND state IN ('waiting', 'rejected', 'covered'))`;

/** The start of an open wait stays. */
const SINCE = "CASE WHEN waits.closed_at IS NULL THEN waits.since ELSE excluded.since END";

/** Returns a function that makes the statements of a wait that has ended, whether it was open or not. */
export const waitEnder = (store: Store) => {
  const { now } = store.database.dialect;
  const save = WAITS.saver({ since: now, closedAt: now, readAfter: "NULL", isLeft: "0" }, (field) =>
    field === "since" ? SINCE : undefined,
  );
  return (wait: EndedWait): ReadonlyArray<Query> => [
    save({ ...wait, endedAs: wordOf(wait.outcome) }, store.seal),
    refreshStatus(store, [wait.workflowId], ["waiting"]),
  ];
};

/** Runs, waits and leases. */
export const runMethods = (store: Store) => {
  const { database, seal } = store;
  const { now } = database.dialect;
  // An open wait stays as it is.
  const open = WAITS.saver(
    { since: now, readAfter: `${now} + ${readIntervalMs(0)}` },
    undefined,
    "WHERE waits.closed_at IS NOT NULL",
  );
  const end = waitEnder(store);
  const ofWait = ({ account, activityId, runId, workflowId }: Omit<NewWait, "kind" | "thing">) => ({
    "workflow_id = ?": workflowId,
    "run_id = ?": runId,
    "activity_id = ?": activityId,
    "account = ?": account,
    "closed_at IS NULL": true,
  });
  const lease = async (name: string, holder: string, ms: number): Promise<boolean> => {
    const until = `${now} + ${Math.round(ms)}`;
    // Longer than it lasts: the clock was set back since.
    const ifFree = `WHERE leases.holder = excluded.holder OR leases.until <= ${now} OR leases.until > excluded.until RETURNING name`;
    const take = LEASES.saver({ until }, undefined, ifFree);
    const release = query(
      "DELETE FROM leases WHERE name = $1 AND holder = $2 RETURNING name",
      name,
      holder,
    );
    const change = ms > 0 ? take({ name, holder }, seal) : release;
    return (await store.writeReturning(`lease ${name}`, change)).length > 0;
  };
  const describe = async (account: string | null, planned: PlannedOfRun): Promise<void> => {
    const described = descriptionOf(planned);
    if (described) await rememberPayees(store, account ?? "", [described]);
  };
  const recordOnly = (
    run: NewRun,
    start: NewStart | undefined,
    startedAt?: number,
  ): Promise<void> => {
    const { account, workflowId } = run;
    const looks = [selectDecisions(workflowId)];
    return store.logged(workflowId, workflowId, looks, ([lines = []], log) => {
      const decisions = lines.map((line) => readDecision(line, seal));
      let { runId } = run;
      if (start !== undefined && !decisions.some((one) => isStart(one, start))) {
        const { by, how, value } = start;
        const about = onWhole(workflowId, account ?? "");
        const reason = value.notDuplicate ?? null;
        log.decision({ ...about, kind: "start", by, how, reason, value });
        runId ??= value.firstRunId ?? null;
      }
      const isStopped = endAmong(decisions) !== undefined;
      const saved = saveRun(
        {
          ...run,
          runId,
          namedAs: descriptionOf(run)?.payee ?? null,
          startedBy: start?.by ?? null,
          isStopped,
          planned: isStopped ? "stopped" : "open",
          startedAt: startedAt ?? log.now,
        },
        seal,
      );
      // A write or a wait of the run may be recorded before its start.
      return { value: undefined, writes: [saved, ...refreshEnds(store, [workflowId])] };
    });
  };
  const record = async (...[run, ...how]: Parameters<typeof recordOnly>): Promise<void> => {
    // In the same turn, and so in the same commit.
    await Promise.all([describe(run.account, run), recordOnly(run, ...how)]);
  };
  return {
    /**
     * Records a start: the run, and the decision of who started it, in one transaction. Known values of the run stay,
     * except the run id; null values are filled in. The same start again adds no line.
     *
     * Each start has its own key. A change of rows of a workflow id takes its key first, and keys are taken in order,
     * which avoids deadlocks.
     */
    recordStart: (run: NewRun, start: NewStart): Promise<void> => record(run, start),
    /** Records the planned payment of a run after an amendment. */
    amendRun: async (workflowId: string, planned: PlannedOfRun): Promise<void> => {
      const of = { "workflow_id = ?": workflowId };
      const [run] = await store.all(RUNS, of);
      const to = { ...planned, namedAs: descriptionOf(planned)?.payee ?? null };
      await describe(run?.account ?? null, planned);
      await store.save(workflowId, [store.update(RUNS, to, of)]);
    },
    /**
     * Records the state of the latest run of each id in Temporal. Runs that the ledger does not know are left out; null
     * opens a run again. A run whose start nobody has recorded began at `startedAt`, and not with its first write; so did
     * a row of a file, and not at its upload.
     */
    recordEnds: async (ends: ReadonlyArray<RunEnd>): Promise<void> => {
      for (const part of chunksOf(ends, MOST_KEYS)) {
        const ids = part.map(({ workflowId }) => workflowId);
        const changes = part.flatMap(({ runId, startedAt = null, workflowId, ...end }) => {
          const to = { ...OPEN, ...end, endGroup: groupOf(end), ...(runId !== null && { runId }) };
          return [
            query(
              `UPDATE runs SET started_at = $1 WHERE workflow_id = $2
               AND ((started_by IS NULL AND started_at > $1) OR (${HAS_NOT_BEGUN} AND started_at < $1))`,
              startedAt,
              workflowId,
            ),
            store.update(RUNS, to, { "workflow_id = ?": workflowId }),
          ];
        });
        await store.save(ids, [...changes, ...refreshEnds(store, ids)]);
      }
    },
    /** Records that a run of the id continues a failed one, unless a newer one is known. */
    reopenRun: (workflowId: string, from: string, runId: string): Promise<void> => {
      const of = { "workflow_id = ?": workflowId, "run_id = ?": from };
      const reopen = store.update(RUNS, { ...OPEN, runId }, of);
      return store.save(workflowId, [reopen, ...refreshEnds(store, [workflowId])]);
    },
    /**
     * Records a run that only Temporal has, without a decision: its starter is unknown, so its payments cannot be
     * approved. Known values stay.
     */
    recordRun: (run: NewRun, startedAt: number) => record(run, undefined, startedAt),
    /**
     * Returns runs that are open, or missing in Temporal, in the order of their ids. A row that its file has not
     * started has no run yet.
     */
    openRuns: (filter: { readonly after?: string; readonly limit: number }) =>
      store.all(
        RUNS,
        {
          "(end_state IS NULL OR end_state = 'missing')": true,
          [NOT_FILED]: true,
          "workflow_id > ?": filter.after,
        },
        "ORDER BY workflow_id",
        filter.limit,
      ),
    /** Returns runs without a write, of which a recovered ledger may have forgotten what they sent. */
    forgottenRuns: (account: string, limit: number) =>
      store.all(
        RUNS,
        { "account = ?": account, "planned = 'unknown'": true },
        "ORDER BY started_at, workflow_id",
        limit,
      ),
    /** Returns runs, newest first. */
    runs: (filter: {
      readonly workflowIds?: ReadonlyArray<string>;
      readonly batch?: string | undefined;
      readonly limit?: number;
    }) =>
      store.all(
        RUNS,
        {
          workflow_id: filter.workflowIds,
          "batch = ?": filter.batch,
        },
        "ORDER BY started_at DESC, workflow_id",
        filter.limit,
      ),
    /** Opens a wait, or opens it again. */
    openWait: async (wait: NewWait) => {
      const keys = [wait.workflowId, payoutKey(wait.thing)];
      await store.save(keys, [
        open({ ...wait, isLeft: false }, seal),
        ...(wait.kind === "payout" || wait.kind === "return"
          ? [store.update(WAITS, { readAfter: null }, { ...ofWait(wait), [IS_FOLLOWED]: true })]
          : []),
        // Its attempt may have been under way when its run ended.
        store.update(WAITS, { isLeft: true }, { ...ofWait(wait), [HAS_ENDED]: true }),
        refreshStatus(store, [wait.workflowId], ["running", "missing"]),
      ]);
    },
    /** Records a wait that has ended as soon as it began, or closes it if it is open. */
    endWait: (wait: EndedWait): Promise<void> => store.save(wait.workflowId, end(wait)),
    /** Returns waits, the longest first, the longest due first, or by their objects; with `isOpen` only open ones. */
    waits: (
      filter: Partial<Pick<Wait, "account" | "activityId" | "workflowId" | "kind">> & {
        readonly isOpen?: true;
        /** Those whose run has ended in Temporal; a lost run has no end. */
        readonly isLeft?: true;
        /** Those whose object is due to be read at the service. */
        readonly isDue?: true;
        /** Those for any of these objects. */
        readonly things?: ReadonlyArray<string>;
        readonly limit?: number;
      },
    ) =>
      store.all(
        WAITS,
        {
          "closed_at IS NULL": filter.isOpen,
          "is_left = 1": filter.isLeft,
          "account = ?": filter.account,
          "workflow_id = ?": filter.workflowId,
          "activity_id = ?": filter.activityId,
          // A part of the text, because an index is of one kind alone.
          [`kind = '${filter.kind}'`]: filter.kind !== undefined,
          thing: filter.things,
          [`read_after <= (SELECT ${now})`]: filter.isDue,
        },
        `ORDER BY ${filter.isDue ? "read_after" : filter.things ? "thing" : "since, workflow_id, activity_id"}`,
        filter.limit,
      ),
    /**
     * Records that the objects of waits were read, and when they are read next: those that are still open.
     *
     * @param read with the reason why an object cannot be read; null if it can, undefined if that is not known.
     */
    readWaits: async (
      read: ReadonlyArray<{ readonly wait: Wait; readonly problem?: string | null | undefined }>,
    ): Promise<void> => {
      const clock = query(`SELECT ${now} AS now`);
      for (const part of chunksOf(read, MOST_KEYS))
        await database.write(
          part.map(({ wait }) => wait.workflowId),
          [clock],
          ([[at = {}] = []]) => ({
            value: undefined,
            writes: part.map(({ problem, wait }) => {
              const time = Number(at["now"]);
              const longestMs = wait.kind === "return" ? LONGEST_FOR_RETURN_MS : undefined;
              const readAfter = time + readIntervalMs(time - wait.since, longestMs);
              const outcome = typeof problem === "string" ? { problem } : null;
              const all = { readAfter, ...(problem !== undefined && { outcome }) };
              return store.update(WAITS, all, ofWait(wait));
            }),
          }),
        );
    },
    /** Closes those waits that are open, and keeps their outcomes: many in one transaction. */
    closeWaits: async (ended: ReadonlyArray<Omit<EndedWait, "kind" | "thing">>): Promise<void> => {
      for (const part of chunksOf(ended, MOST_KEYS)) {
        const ids = part.map(({ workflowId }) => workflowId);
        const close = part.map(({ outcome, ...wait }) =>
          store.where(
            `UPDATE waits SET closed_at = ${now}, outcome = $1, ended_as = $2`,
            ofWait(wait),
            "",
            undefined,
            [WAITS.fields.outcome.write(outcome, seal), wordOf(outcome)],
          ),
        );
        await store.save(ids, [...close, refreshStatus(store, ids, ["waiting"])]);
      }
    },
    /** Takes or renews a lease if nobody else holds it; 0 ms releases it. @returns whether the holder has it. */
    lease,
    /** Writes a mark that nothing reads. @throws LedgerUnavailable with the reason why no payment can be recorded now. */
    check: async (): Promise<void> => {
      await lease("check", "", 1);
      if (database.problem !== undefined) throw database.problem;
    },
  };
};
