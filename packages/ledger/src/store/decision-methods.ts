import { type AccountLimits, type Limits, limitsId, limitsOf } from "../model/limits.ts";
import { isSamePerson } from "../model/person.ts";
import { endedRow, overruledRow } from "../model/row-changes.ts";
import type { WriteRow } from "../model/row.ts";
import type { Actor, DecisionLook, NewDecision, Pause } from "./ledger.ts";
import { onWhole, readDecision, readLine, verifyLines } from "./log.ts";
import { nextVersion, readRow, saveRow, rowsOf } from "./write-rows.ts";
import { refreshEnds } from "./run-status.ts";
import { PAUSES, RUNS } from "./schema.ts";
import type { Store } from "./store.ts";
import { query, type Query } from "./table.ts";

/** Whether a decision is the approval of a question: of a row of a file, none is asked yet. */
const isApproval = ({ kind, value }: NewDecision): boolean =>
  kind === "approve" && value["file"] === undefined;

/** Whether a decision concerns writes of other ids or their runs: those of children and keys, or of an account. */
const isAlone = (decision: NewDecision): boolean =>
  decision.kind === "end" ||
  decision.kind === "overrule" ||
  isApproval(decision) ||
  decision.workflowId === limitsId(decision.account);

/** Decisions on an id, and on the owners and roots of its own writes. */
const selectRelated = (workflowId: string) =>
  query(
    `SELECT * FROM log WHERE kind <> '' AND (workflow_id = $1
     OR workflow_id IN (SELECT owner_id FROM writes WHERE writes.workflow_id = $1 AND owner_id <> workflow_id)
     OR workflow_id IN (SELECT root_id FROM writes WHERE writes.workflow_id = $1 AND root_id <> workflow_id))
     ORDER BY sequence`,
    workflowId,
  );

/** Returns the statements by which the runs and files that may wait for the end of a pause check again. */
export const wake = (
  { of, scope }: Pick<Pause, "scope" | "of">,
  decision: number,
): ReadonlyArray<Query> => {
  const runs = {
    all: "",
    batch: "AND workflow_id IN (SELECT workflow_id FROM runs WHERE batch = $1)",
    run: "AND $1 IN (workflow_id, owner_id, root_id)",
  };
  const files = { all: "state = 'approved'", batch: "id = $2", run: "" };
  const values = scope === "all" ? [] : [of];
  return [
    query(
      `UPDATE writes SET must_notify = 1, version = version + 1
       WHERE is_open = 1 AND state IN ('ready', 'unknown') ${runs[scope]}`,
      ...values,
    ),
    ...(files[scope] === ""
      ? []
      : [query(`UPDATE batches SET notify_of = $1 WHERE ${files[scope]}`, decision, ...values)]),
  ];
};

const savePause = PAUSES.saver({}, (name) => (name === "since" ? "pauses.since" : undefined));

/**
 * Decisions, the log, limits and pauses. Limits follow from decisions, and every send obeys them, whichever worker
 * makes it.
 */
export const decisionMethods = (store: Store) => {
  const { seal } = store;
  /** Changes a pause and records the person, unless there is none to end. Returns the new one, and whether there was one. */
  const onPause = (
    kind: "pause" | "resume",
    { of, scope }: Pick<Pause, "scope" | "of">,
    actor: Actor,
  ) => {
    const workflowId = scope === "run" ? of : "";
    const looks = [query("SELECT 1 FROM pauses WHERE scope = $1 AND of = $2", scope, of)];
    return store.logged(null, workflowId, looks, ([paused = []], log) => {
      const isPaused = paused.length > 0;
      if (isPaused || kind === "pause")
        log.decision({ ...actor, ...onWhole(workflowId), value: { scope, of }, kind });
      const pause: Pause = { scope, of, by: actor.by, reason: actor.reason ?? "", since: log.now };
      const change =
        kind === "pause"
          ? savePause(pause, seal)
          : query("DELETE FROM pauses WHERE scope = $1 AND of = $2", scope, of);
      const resumed = isPaused && kind === "resume" ? wake({ of, scope }, log.sequence + 1) : [];
      return { value: { isPaused, pause }, writes: [change, ...resumed] };
    });
  };
  const selectLog = (workflowId: string) =>
    query("SELECT * FROM log WHERE workflow_id = $1 ORDER BY sequence", workflowId);

  /**
   * Records a decision in one transaction with its effect on the writes of its workflow id: an `end` or `overrule` is
   * applied to each by `endedRow` or `overruledRow`, also to those of its children and keys; so it runs alone. An end
   * also applies if there is no row yet.
   *
   * @param check returns the own rows whose run must check again, or throws to refuse the decision. It is pure.
   */
  const decide = (
    decision: NewDecision,
    check: (look: DecisionLook) => ReadonlyArray<WriteRow> = () => [],
  ): Promise<void> => {
    const { workflowId } = decision;
    const looks = [rowsOf(workflowId), selectRelated(workflowId)];
    return store.logged(
      isAlone(decision) ? null : workflowId,
      workflowId,
      looks,
      ([rows = [], lines = []], log) => {
        const look: DecisionLook = {
          ...log,
          rows: rows.map((row) => readRow(row, seal)),
          decisions: lines.map((line) => readDecision(line, seal)),
        };
        const concerned = check(look);
        log.decision(decision);
        const stops = decision.kind === "end" || decision.kind === "overrule";
        const stop = { isStopped: decision.kind === "end" };
        const endings = [
          ...(stops ? [store.update(RUNS, stop, { "workflow_id = ?": workflowId })] : []),
          ...(stops || isApproval(decision)
            ? refreshEnds(store, [
                workflowId,
                ...look.rows.flatMap((row) => [row.workflowId, row.ownerId, row.rootId]),
              ])
            : []),
        ];
        const changes = look.rows.flatMap((row) => {
          const changed = decidedRow(row, look, decision, concerned.includes(row));
          return changed === undefined ? [] : [saveRow(nextVersion(changed, row), row, seal)];
        });
        return { value: undefined, writes: [...changes, ...endings] };
      },
    );
  };
  /** Returns the limits of an account, with a loosening that waits for a second person. */
  const limits = async (account: string): Promise<AccountLimits> =>
    limitsOf(await store.decisions(limitsId(account)));
  const decideLimits = async (
    account: string,
    actor: Actor,
    said: Pick<NewDecision, "kind" | "value">,
  ): Promise<AccountLimits> => {
    const workflowId = limitsId(account);
    await decide({ ...onWhole(workflowId, account), ...actor, ...said });
    return limits(account);
  };

  return {
    decide,
    /** Returns the decisions on a workflow id; with "" those on everything. */
    decisionsOf: (workflowId: string) => store.decisions(workflowId),
    /** Returns entries and decisions of a workflow id in order. */
    logOf: async (workflowId: string) =>
      (await store.find(selectLog(workflowId))).map((line) => readLine(line, seal)),
    /** Checks the chain of hashes over the log of a workflow id. */
    verify: async (workflowId: string) =>
      verifyLines(await store.find(selectLog(workflowId)), seal),
    /** Stops sends; also recorded as a decision. */
    pause: async (scope: Pause["scope"], of: string, actor: Actor) =>
      (await onPause("pause", { scope, of }, actor)).pause,
    /** @returns whether it was paused. */
    resume: async (scope: Pause["scope"], of: string, actor: Actor) =>
      (await onPause("resume", { scope, of }, actor)).isPaused,
    limits,
    /** Returns the accounts with any decision about limits. */
    limitedAccounts: () =>
      store.texts(
        "account",
        query("SELECT DISTINCT account FROM log WHERE kind = 'limits' ORDER BY account"),
      ),
    /**
     * Sets the limits of an account: a first value or a tighter one applies at once. Looser ones wait in `pending` for
     * `approveLimits`, all of them, and replace others that wait.
     *
     * @returns the limits as they are now.
     */
    setLimits: (account: string, value: Limits, actor: Actor): Promise<AccountLimits> =>
      decideLimits(account, actor, { kind: "limits", value }),
    /**
     * Approves the limits that wait under a sequence.
     *
     * @returns the limits as they are now; undefined if none wait under it, or the same person has set them: then nothing
     *   was recorded.
     */
    approveLimits: async (account: string, sequence: number, actor: Actor) => {
      const { pending } = await limits(account);
      if (pending?.sequence !== sequence || isSamePerson(actor.by, pending.by)) return undefined;
      // A change in between makes it void: see `limitsOf`.
      return decideLimits(account, actor, { kind: "approve", value: { sequence } });
    },
    pauses: () => store.all(PAUSES, {}, "ORDER BY since"),
  };
};

/** A row after a decision; undefined without a change. */
const decidedRow = (
  row: WriteRow,
  look: DecisionLook,
  { by, kind, reason }: NewDecision,
  isConcerned: boolean,
): WriteRow | undefined => {
  if (kind === "end") return endedRow(row, look, reason);
  if (kind === "overrule") return overruledRow(row, look);
  if (!isConcerned) return undefined;
  const isApproved = kind === "approve" && row.question !== null;
  return {
    ...row,
    mustNotify: true,
    ...(isApproved && { question: { ...row.question, approvedBy: by } }),
  };
};
