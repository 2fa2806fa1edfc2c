import { limitsId } from "../model/limits.ts";
import { endedRow, overruledRow } from "../model/rows.ts";
import type { WriteRow } from "../model/row.ts";
import type { Actor, DecisionLook, NewDecision, Pause } from "./ledger.ts";
import { readDecision, readLine, selectDecisions, verifyLines } from "./log.ts";
import { nextVersion, readRow, saveRow, rowsOf } from "./rows.ts";
import { PAUSES } from "./schema.ts";
import type { Decided, Store } from "./store.ts";
import { number, query, readFields } from "./table.ts";

const CONTEXT = { epoch: number, sequence: number };

/** Whether a decision concerns writes of other ids: those of children and keys, or of an account. */
const isAlone = ({ account, kind, workflowId }: NewDecision): boolean =>
  kind === "end" || kind === "overrule" || workflowId === limitsId(account);

/** Decisions on an id, and on the owners and roots of its own writes. */
const selectRelated = (workflowId: string) =>
  query(
    `SELECT * FROM log WHERE kind <> '' AND (workflow_id = $1
     OR workflow_id IN (SELECT owner_id FROM writes WHERE writes.workflow_id = $1 AND owner_id <> workflow_id)
     OR workflow_id IN (SELECT root_id FROM writes WHERE writes.workflow_id = $1 AND root_id <> workflow_id))
     ORDER BY sequence`,
    workflowId,
  );

const savePause = PAUSES.saver({}, (name) => (name === "since" ? "pauses.since" : undefined));

/** Decisions, the log, and pauses. */
export const decisionMethods = (store: Store) => {
  const { seal } = store;
  /** Changes a pause and records the person, unless there is no pause to end. */
  const onPause = <A>(
    kind: "pause" | "resume",
    value: Pick<Pause, "scope" | "of">,
    actor: Actor,
    change: (isPaused: boolean, now: number) => Decided<A>,
  ): Promise<A> => {
    const { of, scope } = value;
    const workflowId = scope === "run" ? of : "";
    const looks = [query("SELECT 1 FROM pauses WHERE scope = $1 AND of = $2", scope, of)];
    return store.logged(null, workflowId, looks, ([paused = []], log) => {
      const isPaused = paused.length > 0;
      const about = { account: "", workflowId, step: null, question: null };
      if (isPaused || kind === "pause") log.decision({ ...actor, ...about, kind, value });
      return change(isPaused, log.now);
    });
  };
  const selectLog = (workflowId: string) =>
    query("SELECT * FROM log WHERE workflow_id = $1 ORDER BY sequence", workflowId);

  return {
    /**
     * Records a decision in one transaction with its effect on the writes of its workflow id: an `end` or `overrule` is
     * applied to each by `endedRow` or `overruledRow`, also to those of its children and keys; so it runs alone. An end also
     * applies if there is no row yet.
     *
     * @param check returns the own rows whose run must look again, or throws to refuse the decision. It is pure.
     */
    decide: (
      decision: NewDecision,
      check: (look: DecisionLook) => ReadonlyArray<WriteRow> = () => [],
    ): Promise<void> => {
      const { workflowId } = decision;
      const context = query(
        "SELECT epoch, (SELECT coalesce(max(sequence), 0) FROM log) AS sequence FROM meta",
      );
      const looks = [context, rowsOf(workflowId), selectRelated(workflowId)];
      return store.logged(
        isAlone(decision) ? null : workflowId,
        workflowId,
        looks,
        ([[found = {}] = [], rows = [], lines = []], log) => {
          const all = Map.groupBy(
            lines.map((line) => readDecision(line, seal)),
            (one) => one.workflowId === workflowId,
          );
          const look: DecisionLook = {
            rows: rows.map((row) => readRow(row, seal)),
            decisions: all.get(true) ?? [],
            related: all.get(false) ?? [],
            now: log.now,
            ...readFields(CONTEXT, found, seal),
          };
          const concerned = check(look);
          log.decision(decision);
          const writes = look.rows.flatMap((row) => {
            const changed = decidedRow(row, look, decision, concerned.includes(row));
            return changed === undefined ? [] : [saveRow(nextVersion(changed, row), row, seal)];
          });
          return { value: undefined, writes };
        },
      );
    },
    /** Returns the decisions on a workflow id; with "" those on everything. */
    decisionsOf: async (workflowId: string) =>
      (await store.find(selectDecisions(workflowId))).map((line) => readDecision(line, seal)),
    /** Returns the workflow ids that a person has stopped, the latest first; a later decision may override that. */
    stoppedIds: async (limit: number): Promise<ReadonlyArray<string>> => {
      const ids = query(
        `SELECT workflow_id FROM log WHERE kind <> '' AND kind = 'end'
         GROUP BY workflow_id ORDER BY max(sequence) DESC LIMIT $1`,
        limit,
      );
      return (await store.find(ids)).map((row) => String(row["workflow_id"]));
    },
    /** Returns entries and decisions of a workflow id in order. */
    logOf: async (workflowId: string) =>
      (await store.find(selectLog(workflowId))).map((line) => readLine(line, seal)),
    /** Checks the chain of hashes over the log of a workflow id. */
    verify: async (workflowId: string) =>
      verifyLines(await store.find(selectLog(workflowId)), seal),
    /** Stops sends; also recorded as a decision. */
    pause: (scope: Pause["scope"], of: string, actor: Actor): Promise<Pause> =>
      onPause("pause", { scope, of }, actor, (_before, now) => {
        const pause = { scope, of, by: actor.by, reason: actor.reason ?? "", since: now };
        return { value: pause, writes: [savePause(pause, seal)] };
      }),
    /** @returns whether it was paused. */
    resume: (scope: Pause["scope"], of: string, actor: Actor): Promise<boolean> =>
      onPause("resume", { scope, of }, actor, (isPaused) => {
        const end = query("DELETE FROM pauses WHERE scope = $1 AND of = $2", scope, of);
        return { value: isPaused, writes: isPaused ? [end] : [] };
      }),
    pauses: () => store.all(PAUSES, {}, "ORDER BY since"),
  };
};

/** A row after a decision; undefined without a change. */
const decidedRow = (
  row: WriteRow,
  look: DecisionLook,
  { kind, reason }: NewDecision,
  isConcerned: boolean,
): WriteRow | undefined => {
  if (kind === "end") return endedRow(row, look, reason);
  if (kind === "overrule") return overruledRow(row, look);
  return isConcerned ? { ...row, isUntold: true } : undefined;
};
