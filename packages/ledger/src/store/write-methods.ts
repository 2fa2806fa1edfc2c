import { isAbout } from "../model/approvals.ts";
import { limitsId, limitsOf } from "../model/limits.ts";
import { type Standing, standingOfRow } from "../model/standing.ts";
import type { EndState, WriteName, WriteOwner, WriteRow } from "../model/row.ts";
import {
  type Look,
  type Change,
  MadeByAnother,
  type PlannedPayment,
  type RowFilter,
} from "./ledger.ts";
import { endAmong, readDecision } from "./log.ts";
import { SCHEMA_VERSION } from "./migrations.ts";
import { BATCH_ROWS, PAUSES } from "./schema.ts";
import { type Database, type Store, UniqueViolation } from "./store.ts";
import * as column from "./column.ts";
import { type Query, query, readFields, type RowOf, type Seal, type SqlRow } from "./table.ts";
import { saveRun } from "./run-methods.ts";
import { refreshEnds, refreshStatus } from "./run-status.ts";
import { findSimilar } from "./similar-payments.ts";
import {
  findWrites,
  isSettled,
  nextVersion,
  readRest,
  readRow,
  rowsOf,
  saveRow,
} from "./write-rows.ts";

const FILED = { state: BATCH_ROWS.fields.state };
const CREATED = { id: column.text, mark: column.text };
const PAUSE = ["scope", "of", "by", "reason", "since"];
const DECISION = ["sequence", "at", "account", "workflow_id", "step", "kind", "body"];

/** The ids of the name, of the workflow that asks and of its root, as given and as stored. */
const IDS = "$2, $4, $5, coalesce(writes.owner_id, $2), coalesce(writes.root_id, $2)";

/** A single statement that reads all facts about a write, because each statement costs a round trip. */
const lookOf = ({
  list,
  now,
}: Database["dialect"]): ((name: WriteName, owner?: WriteOwner) => Query) => {
  const sql = `SELECT ${now} AS now, meta.epoch AS epoch_now, meta.stopped, meta.was_behind,
   (SELECT max(least) FROM schema_version) AS least_version,
   (SELECT coalesce(max(sequence), 0) FROM log) AS sequence,
   (SELECT run_id FROM runs WHERE runs.workflow_id = $4) AS known_run_id,
   (SELECT end_state FROM runs WHERE runs.workflow_id = $4) AS known_end,
   CASE WHEN meta.epoch > 1 THEN
    (SELECT max(at) FROM log WHERE workflow_id = '' AND kind <> '' AND kind = 'recover') END AS recovered_at,
   ${list(["state"], "FROM batch_rows WHERE workflow_id = $2 AND run IS NULL")} AS filed,
   ${list(["id", "mark"], `FROM (SELECT made_id AS id, payee AS mark FROM writes AS own WHERE own.owner_id IN ($2, $4) AND own.account = $1 AND own.operation IN ('createBeneficiary', 'createCardholder') AND own.made_id IS NOT NULL AND own.payee IS NOT NULL) AS own`)} AS created,
   (SELECT count(*) FROM writes AS other WHERE other.workflow_id = $2 AND other.step = $3 AND other.account <> $1
    AND $4 = $2 AND other.owner_id = other.workflow_id) AS others,
   ${list(PAUSE, `FROM pauses WHERE scope = 'all' OR (scope = 'run' AND of IN (${IDS})) OR (scope = 'batch' AND of IN (SELECT batch FROM runs WHERE runs.workflow_id IN (${IDS}))) ORDER BY since LIMIT 1`)} AS pauses,
   ${list(DECISION, `FROM log WHERE workflow_id IN (${IDS}, $6) AND kind <> '' ORDER BY sequence`)} AS decisions, writes.*
   FROM meta LEFT JOIN writes ON writes.workflow_id = $2 AND writes.step = $3 AND writes.account = $1`;
  return ({ account, step, workflowId }, { ownerId, rootId } = ownedBy(workflowId)) =>
    query(sql, account, workflowId, step, ownerId, rootId, limitsId(account));
};

/** The owner of a write that no other workflow asks for. */
const ownedBy = (workflowId: string): WriteOwner => ({ ownerId: workflowId, rootId: workflowId });

/** The run of the workflow that asks, before the transaction. */
const KNOWN_RUN = {
  knownRunId: column.textOrNull,
  knownEnd: column.orNull(column.oneOf<EndState>()),
};

const CONTEXT = {
  now: column.number,
  epochNow: column.number,
  leastVersion: column.number,
  stopped: column.textOrNull,
  sequence: column.number,
  recoveredAt: column.numberOrNull,
  wasBehind: column.yesNo,
  others: column.number,
};

/** Reads a list that `Database.dialect.list` made. */
const listOf = (found: SqlRow, column: string): ReadonlyArray<SqlRow> =>
  JSON.parse(String(found[column] ?? "[]")) as ReadonlyArray<SqlRow>;

/** Reads the result of the statement of `lookOf`. */
const readLook = (name: WriteName, [found = {}]: ReadonlyArray<SqlRow>, seal: Seal): Look => {
  const { epochNow, leastVersion, others, ...context } = readFields(CONTEXT, found, seal);
  const all = Map.groupBy(
    listOf(found, "decisions").map((line) => readDecision(line, seal)),
    ({ workflowId }) => workflowId,
  );
  const limits = limitsId(name.account);
  const ofIds = [...all].filter(([id]) => id !== limits).map(([, decisions]) => decisions);
  return {
    ...context,
    row: found["version"] === null ? undefined : readRow(found, seal),
    epoch: epochNow,
    isOutdated: leastVersion > SCHEMA_VERSION,
    end: ofIds.map(endAmong).find((end) => end !== undefined),
    isOfOtherAccount: others > 0,
    pause: listOf(found, "pauses").map((one) => PAUSES.read(one, seal))[0],
    limits: limitsOf(all.get(limits) ?? []),
    decisions: ofIds
      .flat()
      .filter((decision) => isAbout(name, decision))
      .toSorted((one, next) => one.sequence - next.sequence),
    filed: listOf(found, "filed").map((one) => readFields(FILED, one, seal).state),
    created: listOf(found, "created").map((one) => readFields(CREATED, one, seal)),
  };
};

/** Whether a write may have made something that the ledger does not know. */
const mayHaveMade = (row: WriteRow): boolean => !isSettled(row) && row.state !== "ready";

const ORDER = "ORDER BY changed_at, workflow_id, step";

/** States that the index `writes_open` covers. */
const OPEN_STATES: ReadonlySet<string> = new Set(["ready", "sending", "unknown", "asking"]);

const OWNER = {
  account: column.text,
  workflowId: column.text,
  step: column.text,
  createdAt: column.number,
  recordedAt: column.number,
};

/**
 * A write that owns a result. The ledger had recorded the result at `recordedAt` or before, and had sent nothing of it
 * before `createdAt`. Both are milliseconds since 1970 by its own clock. A later change of the row moves `recordedAt`.
 */
export interface Owner extends RowOf<typeof OWNER>, Pick<WriteRow, "from"> {}

/** Standings of which the root of a write is asked, too. */
const ASKS_ROOT: ReadonlySet<Standing> = new Set(["asking", "approval", "unknown"]);

/** Returns the workflow ids whose status a change of a row may change. */
const concernedBy = (
  saved: WriteRow,
  before: WriteRow | undefined,
  end: EndState | null,
  isWhole: boolean,
): ReadonlyArray<string> => {
  const was = before === undefined ? "open" : standingOfRow(before, end, isWhole);
  const is = standingOfRow(saved, end, isWhole);
  // It may have been saved before its run began again, or before a recovery: then it had another standing.
  const isChecked = before?.state === "unknown" && before.sends === 0;
  const { ownerId, rootId, workflowId } = saved;
  // Another run may ask for the payment of a key: from then on, the payment belongs to that run.
  const last = before ?? saved;
  const isSame =
    // The send of an ended run may concern another run, although its standing stays.
    end === null &&
    !isChecked &&
    was === is &&
    before?.question?.kind === saved.question?.kind &&
    before?.question?.approvedBy === saved.question?.approvedBy;
  if (isSame && ownerId === last.ownerId && rootId === last.rootId) return [];
  const roots = isChecked || ASKS_ROOT.has(was) || ASKS_ROOT.has(is) ? [rootId, last.rootId] : [];
  return [workflowId, ownerId, last.ownerId, ...roots];
};

/** Reads and changes of writes. */
export const writeMethods = (store: Store) => {
  const { database, seal } = store;
  const selectLook = lookOf(database.dialect);
  const rows = ({ after, states, ...filter }: RowFilter) => {
    const isOpen =
      filter.isOpen ?? filter.needsPerson ?? states?.every((state) => OPEN_STATES.has(state));
    const where = {
      "is_open = 1": isOpen,
      "account = ?": filter.account,
      "workflow_id = ?": filter.workflowId,
      operation: filter.operations,
      state: states,
      "question_kind IS NOT NULL": filter.needsPerson,
      "must_notify = 1": filter.mustNotify,
      "EXISTS (SELECT 1 FROM runs WHERE runs.workflow_id = owner_id AND end_state IS NOT NULL)":
        filter.isRunEnded,
      "changed_at < ?": filter.changedBefore,
      "(changed_at, workflow_id, step) > (?, ?, ?)": after && [
        after.changedAt,
        after.workflowId,
        after.step,
      ],
    };
    return findWrites(store, store.where("SELECT * FROM writes", where, ORDER, filter.limit));
  };

  const owners = async (
    account: string,
    operation: string,
    ids: ReadonlyArray<string>,
  ): Promise<ReadonlyMap<string, Owner>> => {
    const found = await store.find(
      store.where(
        "SELECT account, workflow_id, step, made_id, created_at, changed_at AS recorded_at, rest FROM writes",
        { "account = ?": account, "operation = ?": operation, made_id: ids },
        // If several writes have one beneficiary, the first owns it.
        "ORDER BY created_at DESC",
      ),
    );
    return new Map(
      found.map((row) => [
        String(row["made_id"]),
        { ...readFields(OWNER, row, seal), from: readRest(row, seal).from },
      ]),
    );
  };

  /** Returns the write that owns the result of `row`, if another one does. */
  const madeByAnother = async (
    { account, madeId, operation }: WriteRow,
    error: UniqueViolation,
  ): Promise<Error> => {
    const id = madeId ?? "";
    const owner = (await owners(account, operation, [id])).get(id);
    return owner === undefined ? error : new MadeByAnother(owner, id);
  };

  return {
    /**
     * Reads all facts that decide about a write. `owner` is the workflow that asks; default: the last workflow that
     * asked.
     */
    look: async (name: WriteName, owner?: WriteOwner): Promise<Look> =>
      readLook(name, await store.find(selectLook(name, owner)), seal),
    /**
     * Changes a row: reads, decides and writes in one transaction, durable when it resolves. It sees all committed ends,
     * pauses and epochs, because each of those runs alone. `decide` is pure: it may be called again.
     *
     * @param owner the workflow that asks; default: the last workflow that asked.
     * @returns the facts, with the current row.
     * @throws MadeByAnother if another write owns `row.madeId` (payouts, cardholders, cards); the errors of `decide`.
     */
    transact: async (name: WriteName, decide: (look: Look) => Change, owner?: WriteOwner) => {
      const { workflowId } = name;
      const { ownerId, rootId } = owner ?? ownedBy(workflowId);
      let saved: WriteRow | undefined;
      let concerned: ReadonlyArray<string> = [];
      // Undefined if the change concerns another id's status: rarely. With the keys of all roots, the children of one
      // workflow would pay one after another.
      const change = (keys: ReadonlyArray<string>) =>
        store.logged(keys, workflowId, [selectLook(name, owner)], ([found = []], log) => {
          const look = readLook(name, found, seal);
          const { entries = [], row, workflowType } = decide(look);
          saved = row && nextVersion(row, look.row);
          const of = saved ?? look.row;
          const { knownEnd, knownRunId } = readFields(KNOWN_RUN, found[0] ?? {}, seal);
          const isNewRun = saved?.runId !== look.row?.runId && saved?.runId !== knownRunId;
          const isSaved = workflowType !== undefined && (saved?.version === 1 || isNewRun);
          // A new run of the id opens it, and a lost run that writes: as `saveRun` does.
          const end = isSaved && (isNewRun || knownEnd === "missing") ? null : knownEnd;
          const isWhole = look.epoch === 1 && look.stopped === null && look.end === undefined;
          concerned = saved === undefined ? [] : concernedBy(saved, look.row, end, isWhole);
          if (concerned.some((id) => !keys.includes(id))) return { value: undefined, writes: [] };
          const writes: Array<Query> = [];
          if (saved !== undefined) writes.push(saveRow(saved, look.row, seal, end, isWhole));
          if (saved !== undefined && isSaved) {
            // The run has the payment of the row: the check of likely duplicates reads both.
            const { account, ownerId, request, runId } = saved;
            const run = { account, workflowId: ownerId, runId, type: workflowType };
            // Its root may have been ended, too.
            const ofOwner = look.decisions.filter((one) => one.workflowId === ownerId);
            const isStopped = endAmong(ofOwner) !== undefined;
            const planned = request.amount === null ? (isStopped ? "stopped" : "open") : null;
            writes.push(saveRun({ ...run, isStopped, planned, startedAt: look.now }, seal));
          }
          // A run that is open again has another status; so has a run whose wait was recorded first.
          if (isSaved && (knownEnd !== null || knownRunId === null))
            writes.push(...refreshEnds(store, [of?.ownerId ?? ownerId]));
          if (concerned.length > 0) writes.push(refreshStatus(store, concerned));
          for (const entry of entries) {
            log.entry(entry, name, of?.runId ?? "", of?.generation ?? 0);
          }
          return { value: { ...look, row: of }, writes };
        });
      try {
        let result: Look | undefined;
        for (let keys = [workflowId, ownerId]; result === undefined; keys = [...keys, rootId]) {
          result = await change([...new Set([...keys, ...concerned])]);
        }
        return result;
      } catch (error) {
        throw error instanceof UniqueViolation && saved !== undefined
          ? await madeByAnother(saved, error)
          : error;
      }
    },
    /** Returns all writes with an id as their own, their owner or their root, in the order of their creation. */
    rowsOf: (id: string) => findWrites(store, rowsOf(id)),
    /** Returns the writes that match a filter, the longest unchanged first. */
    rows,
    /** Returns the owners of the ids that are results of writes, including pruned ones. */
    owners,
    /** Returns the writes that may own a result: sending, unknown, asking, ended with doubt. */
    rivals: async (account: string, operation: string) =>
      (await rows({ account, operations: [operation], isOpen: true })).filter(mayHaveMade),
    /** Returns up to five ids that successful writes made for a payee, the latest first: each id once. */
    madeFor: (account: string, operation: string, payee: string) => {
      const same = { "payee = ?": payee, "account = ?": account, "operation = ?": operation };
      const made = { ...same, "state = 'done' AND made_id IS NOT NULL": true };
      const latest = "GROUP BY made_id ORDER BY max(changed_at) DESC";
      return store.texts("made_id", store.where("SELECT made_id FROM writes", made, latest, 5));
    },
    /** Returns writes of the same workflow id whose equal request, under another step, succeeded or may have. */
    sameRequestElsewhere: async (
      { account, step, workflowId }: WriteName,
      operation: string,
      hash: string,
    ) =>
      (await rows({ account, workflowId, operations: [operation] })).filter(
        (row) =>
          row.step !== step &&
          row.request.hash === hash &&
          (row.state === "done" || mayHaveMade(row)),
      ),
    /** Returns the likely duplicates of each payment under other workflow ids, by the rule of similar-payments.ts. */
    similarPayments: (account: string | undefined, payments: ReadonlyArray<PlannedPayment>) =>
      findSimilar(store, account, payments),
  };
};
