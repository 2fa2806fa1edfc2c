import type { WriteRow } from "../model/row.ts";
import { endedRow, overruledRow } from "../model/decide.ts";
import type { Ledger, NewDecision } from "./ledger.ts";
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
import { readPause, SELECT_PAUSES } from "./look.ts";
import type { DecisionLook, RowChange } from "./queries.ts";
import { readRow, saveRow } from "./rows.ts";
import type { Seal } from "./seal.ts";
import { type Database, numberOf, query, textOrNull } from "./sql.ts";
import { nextVersion, orMadeByAnother } from "./write-methods.ts";

/** Decisions, the log, and pauses. */
export const decisionMethods = (
  database: Database,
  seal: Seal,
): Pick<Ledger, "decide" | "decisionsOf" | "logOf" | "verify" | "pause" | "resume" | "pauses"> => {
  const { nextSequence, now } = database.dialect;
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
                startedBy: textOrNull(context, "started_by"),
                now: numberOf(context, "now"),
                epoch: numberOf(context, "epoch"),
                sequence: numberOf(context, "sequence"),
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
      return verifyLines(lines, pruned.length > 0);
    },
    pause: (scope, of, actor) => {
      const workflowId = scope === "run" ? of : "";
      return database.write(
        null,
        [query(`SELECT ${now} AS now`), selectLastHash(workflowId)],
        ([[context = {}] = [], last = []]) => {
          const since = numberOf(context, "now");
          const reason = actor.reason ?? "";
          const log = new LogWriter(workflowId, lastHashOf(last), since, seal);
          log.decision({
            ...actor,
            account: "",
            workflowId,
            step: null,
            kind: "pause",
            question: null,
            value: { scope, of },
          });
          return {
            value: { scope, of, by: actor.by, reason, since },
            writes: [
              query(
                `INSERT INTO pauses (scope, of, made_by, reason, since) VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (scope, of) DO UPDATE SET made_by = excluded.made_by, reason = excluded.reason`,
                scope,
                of,
                actor.by,
                seal.seal(reason),
                since,
              ),
              ...log.writes,
            ],
          };
        },
      );
    },
    resume: (scope, of, actor) => {
      const workflowId = scope === "run" ? of : "";
      return database.write(
        null,
        [
          query(`SELECT ${now} AS now`),
          query("SELECT 1 FROM pauses WHERE scope = $1 AND of = $2", scope, of),
          selectLastHash(workflowId),
        ],
        ([[context = {}] = [], paused = [], last = []]) => {
          if (paused.length === 0) return { value: false, writes: [] };
          const log = new LogWriter(workflowId, lastHashOf(last), numberOf(context, "now"), seal);
          log.decision({
            ...actor,
            account: "",
            workflowId,
            step: null,
            kind: "resume",
            question: null,
            value: { scope, of },
          });
          return {
            value: true,
            writes: [
              query("DELETE FROM pauses WHERE scope = $1 AND of = $2", scope, of),
              ...log.writes,
            ],
          };
        },
      );
    },
    pauses: async () => {
      const [found = []] = await database.read([SELECT_PAUSES]);
      return found.map((pause) => readPause(pause, seal));
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
