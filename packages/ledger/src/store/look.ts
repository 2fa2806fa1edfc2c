import type { WriteName } from "../model/row.ts";
import type { Look } from "./ledger.ts";
import { endAmong, readDecision } from "./log.ts";
import { readRow } from "./rows.ts";
import { LIMITS, PAUSES } from "./schema.ts";
import type { Seal } from "./seal.ts";
import type { Database, Query, SqlRow } from "./sql.ts";
import { number, readFields, textOrNull } from "./table.ts";

/** Columns of the lists in a look. */
const PAUSE = ["scope", "of", "by", "reason", "since"];
const DECISION = ["sequence", "at", "account", "workflow_id", "step", "kind", "body"];

/**
 * Returns the text of the statement that reads everything that decides about a write, and the hash that its log
 * continues: one statement, since each costs PostgreSQL and the worker as much as the rest of it.
 */
const lookSql = ({ list, now }: Database["dialect"]): string =>
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
   LEFT JOIN writes ON writes.workflow_id = $2 AND writes.step = $3 AND writes.account = $1`;

/** Returns what makes the statement of a write's look. */
export const lookOf = (dialect: Database["dialect"]): ((name: WriteName) => Query) => {
  const sql = lookSql(dialect);
  return ({ account, step, workflowId }) => ({ sql, values: [account, workflowId, step] });
};

const CONTEXT = {
  now: number,
  epochNow: number,
  leastBuild: number,
  stopped: textOrNull,
  sequence: number,
  maxAmounts: LIMITS.fields.maxAmounts,
  approveAbove: LIMITS.fields.approveAbove,
  startedBy: textOrNull,
  batch: textOrNull,
  approvedBy: textOrNull,
  others: number,
  lastHash: textOrNull,
};

/** Reads a list that `Database.dialect.list` made. */
const listOf = (found: SqlRow, column: string): ReadonlyArray<SqlRow> =>
  JSON.parse(String(found[column] ?? "[]")) as ReadonlyArray<SqlRow>;

/** Reads what `selectLook` found. */
export const readLook = (
  { step }: WriteName,
  [found = {}]: ReadonlyArray<SqlRow>,
  seal: Seal,
): { readonly look: Look; readonly lastHash: string } => {
  const context = readFields(CONTEXT, found, seal);
  const { approveAbove, approvedBy, batch, maxAmounts } = context;
  const row = found["version"] === null ? undefined : readRow(found, seal);
  const decisions = listOf(found, "decisions").map((line) => readDecision(line, seal));
  const [pause] = listOf(found, "pauses").map((one) => PAUSES.read(one, seal));
  const look: Look = {
    row,
    now: context.now,
    epoch: context.epochNow,
    sequence: context.sequence,
    leastBuild: context.leastBuild,
    stopped: context.stopped,
    end: endAmong(decisions),
    isOfOtherAccount: context.others > 0,
    startedBy: context.startedBy,
    pause,
    limits: { maxAmounts, approveAbove },
    decisions: decisions.filter(
      (decision) =>
        (decision.step === null || decision.step === step) &&
        decision.sequence > (row?.decisionsAfter ?? 0),
    ),
    batch: batch === null ? undefined : { id: batch, approvedBy },
  };
  return { look, lastHash: context.lastHash ?? "" };
};
