/**
 * The rows of writes, as they are stored and read.
 *
 * A row has what queries need in columns, and the rest as one sealed text, which is removed when it is pruned. A
 * payout has columns of its own for the service's word. No change of the row touches them, because an attempt that saves
 * the row may not have seen the payout.
 */
import { nextRead } from "../model/reading-schedule.ts";
import { FRESH } from "../model/row-changes.ts";
import type { EndState, WriteRow, WriteState } from "../model/row.ts";
import { standingOfRow } from "../model/standing.ts";
import { REQUEST, type Rest, ROW, SEEN, WRITES } from "./schema.ts";
import type { Store } from "./store.ts";
import { type Query, query, readFields, type RowOf, type Seal, type SqlRow } from "./table.ts";

/** The remains of it in a pruned row: the outcome is known, so the rest is not needed. */
const PRUNED: Rest = { ...FRESH, knownFrom: 0, epoch: 0, facts: {} };

/**
 * The optimistic lock: any version but the next becomes null, which the column refuses. So no unread version is
 * overwritten.
 */
const NEXT_VERSION = "CASE WHEN writes.version = excluded.version - 1 THEN excluded.version END";

/** A payout that is done may have an outcome already. */
const STANDING =
  "CASE WHEN excluded.standing = 'made' AND writes.standing IN ('completed', 'failed', 'returned') THEN writes.standing ELSE excluded.standing END";

/** A payout is read from the time on at which it was made. A payout that was read keeps its time. */
const READ_AFTER = `CASE WHEN excluded.standing = 'made' AND writes.standing IN ('made', 'completed', 'failed', 'returned')
  THEN writes.read_after ELSE excluded.read_after END`;

const replace = (field: string) => {
  if (field === "version") return NEXT_VERSION;
  if (field === "standing") return STANDING;
  if (field === "readAfter") return READ_AFTER;
  // Only `sawPayouts`, and a decision about its word, change what the service shows of it.
  return field in SEEN ? null : undefined;
};

const save = WRITES.saver({}, replace);

/** Does not write the columns of the request and their indexes: most changes concern the outcome. */
const saveOutcome = WRITES.saver({}, (field) => (field in REQUEST ? null : replace(field)));

/** States in which the outcome is known, if no send has an unknown outcome. */
const SETTLED: ReadonlySet<WriteState> = new Set(["refused", "done", "ended", "undone"]);

/** Returns whether the outcome of a write is certain. */
export const isSettled = ({ doubt, state }: WriteRow): boolean =>
  SETTLED.has(state) && !(state === "ended" && doubt > 0);

/** Returns the row to store, with the next version; names of people are removed once the outcome is known. */
export const nextVersion = (row: WriteRow, before: WriteRow | undefined): WriteRow => ({
  ...row,
  version: (before?.version ?? 0) + 1,
  request: isSettled(row) ? { ...row.request, facts: {} } : row.request,
});

/**
 * Returns the statement that saves a row whose version follows that of the stored `before`.
 *
 * @param end of its run, if that is known here; else its standing has to be refreshed.
 * @param isWhole whether the ledger has all that it has sent: see `standingOfRow`.
 */
export const saveRow = (
  row: WriteRow,
  before: WriteRow | undefined,
  seal: Seal,
  end: EndState | null = null,
  isWhole = false,
): Query => {
  const { question, request } = row;
  const all = { ...row, facts: request.facts };
  const rest = Object.fromEntries(
    // The keys of `PRUNED` are those of `Rest`.
    (Object.keys(PRUNED) as ReadonlyArray<keyof Rest>).map((key) => [key, all[key]]),
  ) as unknown as Rest;
  const standing = standingOfRow(row, end, isWhole);
  const stored = {
    ...row,
    ...request,
    standing,
    readAfter: nextRead({ ...row, standing }, row.changedAt),
    // Nobody is asked an approved question.
    questionKind: question?.approvedBy === undefined ? (question?.kind ?? null) : null,
    isOpen: !isSettled(row) || question !== null || row.mustNotify,
    reason: question?.reason ?? row.message,
    rest,
  };
  return (before?.request.hash === request.hash ? saveOutcome : save)(stored, seal);
};

export const readRest = (found: SqlRow, seal: Seal): Rest =>
  WRITES.fields.rest.read(found["rest"] ?? null, seal) ?? PRUNED;

/** Reads a row. */
export const readRow = (found: SqlRow, seal: Seal): WriteRow => {
  const { facts, ...rest } = readRest(found, seal);
  return {
    ...rest,
    ...readFields(ROW, found, seal),
    request: { ...readFields(REQUEST, found, seal), facts },
  };
};

/** Reads writes, each with the hash after which the log of its workflow id continues. */
export const WITH_LAST_HASH = `SELECT writes.*, (SELECT hash FROM log WHERE log.workflow_id = writes.workflow_id
  ORDER BY sequence DESC LIMIT 1) AS last_hash FROM writes`;

/** A write with further facts about it. */
export interface RecordedWrite extends WriteRow, RowOf<typeof SEEN> {}

/** Reads a row, with further facts about it. */
export const readRecorded = (found: SqlRow, seal: Seal): RecordedWrite => ({
  ...readRow(found, seal),
  ...readFields(SEEN, found, seal),
});

/** Reads the writes that a statement finds, with further facts about them. */
export const findWrites = async (
  store: Store,
  asked: Query,
): Promise<ReadonlyArray<RecordedWrite>> =>
  (await store.find(asked)).map((row) => readRecorded(row, store.seal));

/** Returns the statement that reads all writes with an id as their own, their owner or their root. */
export const rowsOf = (id: string): Query =>
  query(
    `SELECT * FROM writes WHERE workflow_id = $1 OR (owner_id = $1 AND owner_id <> workflow_id)
     OR (root_id = $1 AND root_id <> workflow_id) ORDER BY created_at, workflow_id, step`,
    id,
  );
