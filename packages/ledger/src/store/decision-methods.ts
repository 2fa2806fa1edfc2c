import { endedRow, overruledRow } from "../model/rows.ts";
import type { WriteRow } from "../model/row.ts";
import type { Actor, Decision, DecisionLook, NewDecision, Pause, RowChange } from "./ledger.ts";
import { endAmong, readDecision, readLine, selectDecisions, verifyLines } from "./log.ts";
import { nextVersion, readRow, saveRow } from "./rows.ts";
import { PAUSES } from "./schema.ts";
import { type Decided, query } from "./sql.ts";
import type { Store } from "./store.ts";
import { number, readFields, textOrNull } from "./table.ts";
import { orMadeByAnother, rowsOf } from "./write-methods.ts";

const CONTEXT = { startedBy: textOrNull, epoch: number, sequence: number };

const savePause = PAUSES.saver({}, (name) => (name === "since" ? "pauses.since" : undefined));

/** Decisions, the log, and pauses. */
export const decisionMethods = (store: Store) => {
  const { database, seal } = store;
  /** Changes a pause, and records who does, unless there is nothing to end. */
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
     * Records a decision, and changes writes with it, in one transaction.
     *
     * An `end` or `overrule` is applied to every row that `change` does not give, as `endedRow` and `overruledRow` say.
     * An end holds for the workflow id, also before it has any row.
     *
     * @param change gives the rows that change; it throws to refuse the decision, and is pure.
     * @returns the decision as recorded.
     */
    decide: (
      decision: NewDecision,
      change: (look: DecisionLook) => ReadonlyArray<RowChange> = () => [],
    ): Promise<Decision> => {
      const { workflowId } = decision;
      const context = query(
        `SELECT meta.epoch, ${database.dialect.nextSequence} AS sequence, runs.started_by
         FROM meta LEFT JOIN runs ON runs.workflow_id = $1`,
        workflowId,
      );
      const looks = [context, rowsOf(workflowId), selectDecisions(workflowId)];
      return orMadeByAnother(store, (changing) =>
        store.logged(
          workflowId,
          workflowId,
          looks,
          ([[found = {}] = [], rows = [], lines = []], log) => {
            const decisions = lines.map((line) => readDecision(line, seal));
            const look: DecisionLook = {
              rows: rows.map((row) => readRow(row, seal)),
              decisions,
              end: endAmong(decisions),
              now: log.now,
              ...readFields(CONTEXT, found, seal),
            };
            const changes = withRest(change(look), look, decision);
            log.decision(decision, look.sequence);
            const writes = changes.map(({ entries = [], row }) => {
              for (const entry of entries) log.entry(entry, row, row.runId, row.generation);
              const before = look.rows.find((other) => isSameWrite(other, row));
              const changed = nextVersion(row, before);
              if (changed.madeId !== null) changing(changed);
              return saveRow(changed, seal);
            });
            return { value: { ...decision, sequence: look.sequence, at: look.now }, writes };
          },
        ),
      );
    },
    /** Returns the decisions on a workflow id; with "" those that concern everything. */
    decisionsOf: async (workflowId: string) => {
      const found = await store.find(selectDecisions(workflowId));
      return found.map((line) => readDecision(line, seal));
    },
    /** Returns entries and decisions of a workflow id in order. */
    logOf: async (workflowId: string) => {
      const found = await store.find(selectLog(workflowId));
      return found.map((line) => readLine(line, seal));
    },
    /** Checks the chain of hashes over the log of a workflow id. */
    verify: async (workflowId: string) => {
      const [lines = [], pruned = []] = await database.read([
        selectLog(workflowId),
        query("SELECT 1 FROM writes WHERE workflow_id = $1 AND rest IS NULL LIMIT 1", workflowId),
      ]);
      return verifyLines(lines, pruned.length > 0, seal);
    },
    /** Stops sends; kept as a decision, too. */
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

const isSameWrite = (one: WriteRow, other: WriteRow): boolean =>
  one.step === other.step && one.account === other.account;

/** Adds what the end of a workflow id, or its overrule, does to the rows that nothing else is done to. */
const withRest = (
  changes: ReadonlyArray<RowChange>,
  look: DecisionLook,
  { kind, reason }: NewDecision,
): ReadonlyArray<RowChange> => [
  ...changes,
  ...look.rows
    .filter((row) => !changes.some((change) => isSameWrite(change.row, row)))
    .flatMap((before) => {
      const row =
        kind === "end"
          ? endedRow(before, look, reason)
          : kind === "overrule"
            ? overruledRow(before, look)
            : undefined;
      return row === undefined ? [] : [{ row }];
    }),
];
