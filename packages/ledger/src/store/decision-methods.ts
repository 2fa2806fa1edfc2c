import type { WriteRow } from "../model/row.ts";
import { endedRow, overruledRow } from "../model/decide.ts";
import type { Ledger, NewDecision, Pause } from "./ledger.ts";
import {
  endAmong,
  lastHashOf,
  LogWriter,
  readDecision,
  readLine,
  selectDecisions,
  selectLastHash,
  selectLog,
  verifyLines,
} from "./log.ts";
import type { Actor, DecisionLook, RowChange } from "./queries.ts";
import { nextVersion, readRow, saveRow } from "./rows.ts";
import { PAUSES } from "./schema.ts";
import type { Seal } from "./seal.ts";
import { type Database, query, type Query } from "./sql.ts";
import { number, readFields, textOrNull } from "./table.ts";
import { orMadeByAnother } from "./write-methods.ts";

const CONTEXT = { startedBy: textOrNull, now: number, epoch: number, sequence: number };

/** Decisions, the log, and pauses. */
export const decisionMethods = (
  database: Database,
  seal: Seal,
): Pick<Ledger, "decide" | "decisionsOf" | "logOf" | "verify" | "pause" | "resume" | "pauses"> => {
  const { nextSequence, now } = database.dialect;

  /** Changes a pause, and records who did, where anything changes. */
  const changePauses = <A>(
    scope: Pause["scope"],
    of: string,
    actor: Actor & { readonly kind: "pause" | "resume" },
    change: (
      now: number,
      isPaused: boolean,
    ) => { readonly value: A; readonly writes: ReadonlyArray<Query> },
  ): Promise<A> => {
    const workflowId = scope === "run" ? of : "";
    return database.write(
      null,
      [
        query(`SELECT ${now} AS now`),
        query("SELECT 1 FROM pauses WHERE scope = $1 AND of = $2", scope, of),
        selectLastHash(workflowId),
      ],
      ([[context = {}] = [], paused = [], last = []]) => {
        const at = Number(context["now"]);
        const { value, writes } = change(at, paused.length > 0);
        if (writes.length === 0) return { value, writes };
        const log = new LogWriter(workflowId, lastHashOf(last), at, seal);
        const about = { account: "", workflowId, step: null, question: null };
        log.decision({ ...actor, ...about, value: { scope, of } });
        return { value, writes: [...writes, ...log.writes] };
      },
    );
  };

  return {
    decide: (decision, change = () => []) => {
      const { workflowId } = decision;
      let changed: ReadonlyArray<WriteRow> = [];
      return orMadeByAnother(
        database,
        () => changed.find(({ madeId }) => madeId !== null),
        () =>
          database.write(
            workflowId,
            [
              query(
                `SELECT ${now} AS now, meta.epoch, ${nextSequence} AS sequence, runs.started_by
                 FROM meta LEFT JOIN runs ON runs.workflow_id = $1`,
                workflowId,
              ),
              query(
                "SELECT * FROM writes WHERE workflow_id = $1 ORDER BY created_at, step",
                workflowId,
              ),
              selectDecisions(workflowId),
              selectLastHash(workflowId),
            ],
            ([[context = {}] = [], writes = [], lines = [], last = []]) => {
              const decisions = lines.map((line) => readDecision(line, seal));
              const look: DecisionLook = {
                rows: writes.map((row) => readRow(row, seal)),
                decisions,
                end: endAmong(decisions),
                ...readFields(CONTEXT, context, seal),
              };
              const changes = withRest(change(look), look, decision);
              const log = new LogWriter(workflowId, lastHashOf(last), look.now, seal);
              log.decision(decision, look.sequence);
              changed = changes.map(({ entries = [], row }) => {
                const before = look.rows.find((other) => isSameWrite(other, row));
                for (const entry of entries) log.entry(entry, row, row.runId, row.generation);
                return nextVersion(row, before);
              });
              return {
                value: { ...decision, sequence: look.sequence, at: look.now },
                writes: [...changed.map((row) => saveRow(row, seal)), ...log.writes],
              };
            },
          ),
      );
    },
    decisionsOf: async (workflowId) => {
      const [found = []] = await database.read([selectDecisions(workflowId)]);
      return found.map((line) => readDecision(line, seal));
    },
    logOf: async (workflowId) => {
      const [found = []] = await database.read([selectLog(workflowId)]);
      return found.map((line) => readLine(line, seal));
    },
    verify: async (workflowId) => {
      const [lines = [], pruned = []] = await database.read([
        selectLog(workflowId),
        query("SELECT 1 FROM writes WHERE workflow_id = $1 AND rest IS NULL LIMIT 1", workflowId),
      ]);
      return verifyLines(lines, pruned.length > 0, seal);
    },
    pause: (scope, of, actor) =>
      changePauses(scope, of, { ...actor, kind: "pause" }, (since) => {
        const pause = { scope, of, by: actor.by, reason: actor.reason ?? "", since };
        const keepSince = (name: string) => (name === "since" ? "pauses.since" : undefined);
        return { value: pause, writes: [PAUSES.save([pause], seal, keepSince)] };
      }),
    resume: (scope, of, actor) =>
      changePauses(scope, of, { ...actor, kind: "resume" }, (_now, isPaused) => ({
        value: isPaused,
        writes: isPaused
          ? [query("DELETE FROM pauses WHERE scope = $1 AND of = $2", scope, of)]
          : [],
      })),
    pauses: async () => {
      const [found = []] = await database.read([query("SELECT * FROM pauses ORDER BY since")]);
      return found.map((pause) => PAUSES.read(pause, seal));
    },
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
