import { FRESH } from "../model/rows.ts";
import type { WriteName, WriteRow, WriteState } from "../model/row.ts";
import type { Look } from "./ledger.ts";
import { endAmong, readDecision } from "./log.ts";
import {
  BATCH_ROWS,
  BATCHES,
  LIMITS,
  PAUSES,
  REQUEST,
  type Rest,
  ROW,
  RUNS,
  SCHEMA_VERSION,
  WRITES,
} from "./schema.ts";
import type { Database, Query, SqlRow } from "./sql.ts";
import { number, readFields, type Seal, textOrNull } from "./table.ts";

/** What is left of it in a pruned row: its outcome is known, so nothing of it matters any more. */
const PRUNED: Rest = { ...FRESH, knownFrom: 0, epoch: 0, facts: {} };

/** A version other than the next one is null, which the column refuses: nothing overwrites what it has not read. */
const NEXT_VERSION = "CASE WHEN writes.version = excluded.version - 1 THEN excluded.version END";

const replace = (name: string) => (name === "version" ? NEXT_VERSION : undefined);
const save = WRITES.saver({}, replace);

/** Leaves the columns of the request, and their indexes, as they are: most changes are of what became of it. */
const saveOutcome = WRITES.saver({}, (name) => (name in REQUEST ? null : replace(name)));

/** States in which the outcome is known, where no send is in doubt. */
const SETTLED: ReadonlySet<WriteState> = new Set(["refused", "done", "ended", "undone"]);

/** Returns whether what became of a write is certain. */
const isSettled = ({ doubt, state }: WriteRow): boolean =>
  SETTLED.has(state) && !(state === "ended" && doubt > 0);

/** Returns the row as it is kept, the next version of what was there: what names people goes once the outcome is known. */
export const nextVersion = (row: WriteRow, before: WriteRow | undefined): WriteRow => ({
  ...row,
  version: (before?.version ?? 0) + 1,
  request: isSettled(row) ? { ...row.request, facts: {} } : row.request,
});

/** Returns the statement that saves a row, whose version is one more than that of `before`, which is there. */
export const saveRow = (row: WriteRow, before: WriteRow | undefined, seal: Seal): Query => {
  const { question, request } = row;
  const all = { ...row, facts: request.facts };
  const rest = Object.fromEntries(
    // The keys of `PRUNED` are those of `Rest`.
    (Object.keys(PRUNED) as ReadonlyArray<keyof Rest>).map((key) => [key, all[key]]),
  ) as unknown as Rest;
  const stored = {
    ...row,
    ...request,
    questionKind: question?.kind ?? null,
    isOpen: !isSettled(row) || question !== null || row.isUntold,
    rest,
  };
  return (before?.request.hash === request.hash ? saveOutcome : save)(stored, seal);
};

/** Reads a row. */
export const readRow = (found: SqlRow, seal: Seal): WriteRow => {
  const { facts, ...rest } = WRITES.fields.rest.read(found["rest"] ?? null, seal) ?? PRUNED;
  return {
    ...rest,
    ...readFields(ROW, found, seal),
    request: { ...readFields(REQUEST, found, seal), facts },
  };
};

/** What a look reads of the files' rows of its workflow id; `made` is the beneficiary that its run has created. */
const FILED_FIELDS = {
  state: BATCH_ROWS.fields.state,
  amount: textOrNull,
  currency: textOrNull,
  payee: textOrNull,
  made: textOrNull,
  approvedBy: BATCHES.fields.approvedBy,
};
const FROM_FILED = `FROM (SELECT filed.state, filed.amount, filed.currency, filed.payee, batches.approved_by,
    (SELECT made_id FROM writes AS own WHERE own.workflow_id = $2 AND own.account = $1
     AND own.operation = 'createBeneficiary' AND own.payee = filed.payee LIMIT 1) AS made
    FROM batch_rows AS filed JOIN batches ON batches.id = filed.batch WHERE filed.workflow_id = $2) AS filed`;

/** Columns of the lists in a look. */
const FILED = ["state", "amount", "currency", "payee", "made", "approved_by"];
const PAUSE = ["scope", "of", "by", "reason", "since"];
const DECISION = ["sequence", "at", "account", "workflow_id", "step", "kind", "body"];

/** The statement that reads what decides about a write, and its log's last hash: one, since each costs as much as the rest. */
export const lookOf = ({
  list,
  now,
  version,
}: Database["dialect"]): ((name: WriteName) => Query) => {
  const sql = `SELECT ${now} AS now, meta.epoch AS epoch_now, ${version} AS version_now, meta.stopped,
   (SELECT coalesce(max(sequence), 0) FROM log) AS sequence,
   limits.max_amounts, limits.approve_above, runs.started_by,
   ${list(FILED, FROM_FILED)} AS filed,
   (SELECT count(*) FROM writes AS other
    WHERE other.workflow_id = $2 AND other.step = $3 AND other.account <> $1) AS others,
   ${list(PAUSE, "FROM pauses WHERE scope = 'all' OR (scope = 'run' AND of = $2) OR (scope = 'batch' AND of = runs.batch) ORDER BY since LIMIT 1")} AS pauses,
   ${list(DECISION, "FROM log WHERE workflow_id = $2 AND kind <> '' ORDER BY sequence")} AS decisions,
   (SELECT hash FROM log WHERE workflow_id = $2 ORDER BY sequence DESC LIMIT 1) AS last_hash, writes.*
   FROM meta LEFT JOIN limits ON limits.account = $1 LEFT JOIN runs ON runs.workflow_id = $2
   LEFT JOIN writes ON writes.workflow_id = $2 AND writes.step = $3 AND writes.account = $1`;
  return ({ account, step, workflowId }) => ({ sql, values: [account, workflowId, step] });
};

const CONTEXT = {
  now: number,
  epochNow: number,
  versionNow: number,
  stopped: textOrNull,
  sequence: number,
  maxAmounts: LIMITS.fields.maxAmounts,
  approveAbove: LIMITS.fields.approveAbove,
  startedBy: RUNS.fields.startedBy,
  others: number,
  lastHash: textOrNull,
};

/** Reads a list that `Database.dialect.list` made. */
const listOf = (found: SqlRow, column: string): ReadonlyArray<SqlRow> =>
  JSON.parse(String(found[column] ?? "[]")) as ReadonlyArray<SqlRow>;

/** Reads what the statement of `lookOf` found. */
export const readLook = (
  { step }: WriteName,
  [found = {}]: ReadonlyArray<SqlRow>,
  seal: Seal,
): { readonly look: Look; readonly lastHash: string } => {
  const { approveAbove, epochNow, lastHash, maxAmounts, others, versionNow, ...context } =
    readFields(CONTEXT, found, seal);
  const row = found["version"] === null ? undefined : readRow(found, seal);
  const decisions = listOf(found, "decisions").map((line) => readDecision(line, seal));
  const look: Look = {
    ...context,
    row,
    epoch: epochNow,
    isOutdated: versionNow > SCHEMA_VERSION,
    end: endAmong(decisions),
    isOfOtherAccount: others > 0,
    pause: listOf(found, "pauses").map((one) => PAUSES.read(one, seal))[0],
    limits: { maxAmounts, approveAbove },
    decisions: decisions.filter(
      (decision) =>
        (decision.step === null || decision.step === step) &&
        decision.sequence > (row?.decisionsAfter ?? 0),
    ),
    isAmended: decisions.some(({ kind }) => kind === "amend"),
    filed: listOf(found, "filed").map((one) => {
      const { made, payee, ...filed } = readFields(FILED_FIELDS, one, seal);
      return { ...filed, payees: [payee, made].filter((id) => id !== null) };
    }),
  };
  return { look, lastHash: lastHash ?? "" };
};
