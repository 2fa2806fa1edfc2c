import type { WriteName } from "../model/row.ts";
import type { Limits, Look, Pause } from "./ledger.ts";
import { endAmong, readDecision } from "./log.ts";
import { readRow } from "./rows.ts";
import type { Seal } from "./seal.ts";
import {
  type Database,
  numberOf,
  query,
  type Query,
  type SqlRow,
  textOf,
  textOrNull,
} from "./sql.ts";

/**
 * Returns the statement that reads everything that decides about a write, and the hash that its log continues: one
 * statement, since each costs PostgreSQL and the worker as much as the rest of it.
 */
export const selectLook = (
  { account, step, workflowId }: WriteName,
  { list, now }: Database["dialect"],
): Query =>
  query(
    `SELECT ${now} AS now, meta.epoch AS epoch_now, meta.least_build, meta.stopped,
     (SELECT coalesce(max(sequence), 0) FROM log) AS sequence,
     limits.max_amounts, limits.approve_above, runs.started_by, batches.id AS batch, batches.approved_by,
     (SELECT count(*) FROM writes AS other
      WHERE other.workflow_id = $2 AND other.step = $3 AND other.account <> $1) AS others,
     ${list(PAUSE, "FROM pauses WHERE scope = 'all' OR (scope = 'run' AND of = $2) OR (scope = 'batch' AND of = runs.batch) ORDER BY since LIMIT 1")} AS pauses,
     ${list(DECISION, "FROM log WHERE workflow_id = $2 AND is_decision = 1 ORDER BY sequence")} AS decisions,
     (SELECT hash FROM log WHERE workflow_id = $2 ORDER BY sequence DESC LIMIT 1) AS last_hash, writes.*
     FROM meta LEFT JOIN limits ON limits.account = $1 LEFT JOIN runs ON runs.workflow_id = $2
     LEFT JOIN batches ON batches.id = runs.batch
     LEFT JOIN writes ON writes.workflow_id = $2 AND writes.step = $3 AND writes.account = $1`,
    account,
    workflowId,
    step,
  );

const PAUSE = ["scope", "of", "made_by", "reason", "since"];
const DECISION = ["sequence", "at", "account", "workflow_id", "step", "kind", "body"];

/** The statement that reads all pauses: there are few. */
export const SELECT_PAUSES = query("SELECT * FROM pauses ORDER BY since");

/** Reads a pause. */
export const readPause = (found: SqlRow, seal: Seal): Pause => ({
  // Only `pause` writes it.
  scope: textOf(found, "scope") as Pause["scope"],
  of: textOf(found, "of"),
  by: textOf(found, "made_by"),
  reason: seal.open(textOf(found, "reason")),
  since: numberOf(found, "since"),
});

const amounts = (found: SqlRow, column: string): Limits["maxAmounts"] => {
  const text = textOrNull(found, column);
  return text === null ? null : (JSON.parse(text) as Limits["maxAmounts"]);
};

/** Reads a list that `Database.dialect.list` made. */
const listOf = (found: SqlRow, column: string): ReadonlyArray<SqlRow> =>
  JSON.parse(textOrNull(found, column) ?? "[]") as ReadonlyArray<SqlRow>;

/** Reads what `selectLook` found. */
export const readLook = (
  { step }: WriteName,
  [found = {}]: ReadonlyArray<SqlRow>,
  seal: Seal,
): Look => {
  const row = found["version"] === null ? undefined : readRow(found, seal);
  const decisions = listOf(found, "decisions").map((line) => readDecision(line, seal));
  const batch = textOrNull(found, "batch");
  const [pause] = listOf(found, "pauses");
  return {
    row,
    now: numberOf(found, "now"),
    epoch: numberOf(found, "epoch_now"),
    sequence: numberOf(found, "sequence"),
    leastBuild: numberOf(found, "least_build"),
    stopped: textOrNull(found, "stopped"),
    end: endAmong(decisions),
    isOfOtherAccount: numberOf(found, "others") > 0,
    startedBy: textOrNull(found, "started_by"),
    pause: pause && readPause(pause, seal),
    limits: {
      maxAmounts: amounts(found, "max_amounts"),
      approveAbove: amounts(found, "approve_above"),
    },
    decisions: decisions.filter(
      (decision) =>
        (decision.step === null || decision.step === step) &&
        decision.sequence > (row?.decisionsAfter ?? 0),
    ),
    batch: batch === null ? undefined : { id: batch, approvedBy: textOrNull(found, "approved_by") },
  };
};
