import type { WriteName, WriteRow, WriteState } from "../model/row.ts";
import { type Change, type Look, MadeByAnother, type PlannedPayment } from "./ledger.ts";
import { LogWriter } from "./log.ts";
import { lookOf, nextVersion, readLook, readRow, saveRow } from "./rows.ts";
import { saveRun } from "./run-methods.ts";
import { findSimilar } from "./similar-payments.ts";
import { query, type Query, UniqueViolation } from "./sql.ts";
import type { Store, Where } from "./store.ts";
import { readFields, text } from "./table.ts";

const MAY_HAVE_MADE =
  "(state IN ('sending', 'unknown', 'asking') OR (state = 'ended' AND doubt > 0))";

/** States that index `writes_open` has whole. */
const OPEN_STATES: ReadonlySet<string> = new Set(["ready", "sending", "unknown", "asking"]);

/** Which writes are read. */
export interface RowFilter {
  readonly account?: string;
  readonly operations?: ReadonlyArray<string>;
  readonly states?: ReadonlyArray<WriteState>;
  /** Rows with an open question: an outcome to be decided, or an approval. */
  readonly needsPerson?: true;
  /** Rows whose run has yet to be notified. */
  readonly isUntold?: true;
  /** Milliseconds since 1970 by the ledger's clock. */
  readonly changedBefore?: number;
  readonly limit?: number;
}

const NAME = { account: text, workflowId: text, step: text };

/** The run of a first row, whose start nobody has recorded. */
const saveRunOf = saveRun();

/** Returns the statement that reads all writes of a workflow id. */
export const rowsOf = (workflowId: string): Query =>
  query("SELECT * FROM writes WHERE workflow_id = $1 ORDER BY created_at, step", workflowId);

/** Reads and changes of writes. */
export const writeMethods = (store: Store) => {
  const { database, seal } = store;
  const selectLook = lookOf(database.dialect);
  const read = async (asked: Query): Promise<ReadonlyArray<WriteRow>> =>
    (await store.find(asked)).map((row) => readRow(row, seal));
  const writes = (where: Where, rest?: string, limit?: number) =>
    read(store.where("SELECT * FROM writes", where, rest, limit));

  const owners = async (
    account: string,
    operation: string,
    ids: ReadonlyArray<string>,
  ): Promise<ReadonlyMap<string, WriteName>> => {
    const found = await store.find(
      store.where(
        "SELECT account, workflow_id, step, made_id FROM writes",
        { "account = ?": account, "operation = ?": operation, made_id: ids },
        // Of several writes with one beneficiary the first owns it.
        "ORDER BY created_at DESC",
      ),
    );
    return new Map(found.map((row) => [String(row["made_id"]), readFields(NAME, row, seal)]));
  };

  /** Says which write has made what `row` was to own, where one has. */
  const madeByAnother = async (
    { account, madeId, operation }: WriteRow,
    error: UniqueViolation,
  ): Promise<Error> => {
    const id = madeId ?? "";
    const owner = (await owners(account, operation, [id])).get(id);
    return owner === undefined ? error : new MadeByAnother(owner, id);
  };

  return {
    /** Reads everything that decides about a write. */
    look: async (name: WriteName): Promise<Look> =>
      readLook(name, await store.find(selectLook(name)), seal).look,
    /**
     * Changes a row: looks, decides and writes in one transaction, durable when it resolves. Ends, pauses and epochs that
     * are committed before are seen. `decide` is pure: it may be called again.
     *
     * @returns the look, with the row as it is now.
     * @throws MadeByAnother where another write owns `row.madeId` (payouts, cardholders, cards); what `decide` throws.
     */
    transact: async (name: WriteName, decide: (look: Look) => Change): Promise<Look> => {
      let saved: WriteRow | undefined;
      try {
        return await database.write(name.workflowId, [selectLook(name)], ([found = []]) => {
          const { lastHash, look } = readLook(name, found, seal);
          const { entries = [], row, workflowType } = decide(look);
          const log = new LogWriter(name.workflowId, lastHash, look.now, seal);
          saved = row && nextVersion(row, look.row);
          const of = saved ?? look.row;
          const changes: Array<Query> = [];
          if (saved !== undefined) changes.push(saveRow(saved, look.row, seal));
          if (saved?.version === 1 && workflowType !== undefined) {
            // Its payment is the row's: the check of likely duplicates reads both.
            const { account, runId, startedBy, workflowId } = saved;
            const run = { account, workflowId, runId, type: workflowType, startedBy };
            changes.push(saveRunOf({ ...run, startedAt: look.now }, seal));
          }
          for (const entry of entries) {
            log.entry(entry, name, of?.runId ?? "", of?.generation ?? 0);
          }
          return { value: { ...look, row: of }, writes: [...changes, ...log.writes] };
        });
      } catch (error) {
        throw error instanceof UniqueViolation && saved !== undefined
          ? await madeByAnother(saved, error)
          : error;
      }
    },
    /** Returns all writes of a workflow id in the order of their making. */
    rowsOf: (workflowId: string) => read(rowsOf(workflowId)),
    /** Returns writes of which everything holds that is given; the longest unchanged come first. */
    rows: ({
      account,
      changedBefore,
      isUntold,
      limit,
      needsPerson,
      operations,
      states,
    }: RowFilter) =>
      writes(
        {
          "is_open = 1":
            needsPerson ?? isUntold ?? states?.every((state) => OPEN_STATES.has(state)),
          "account = ?": account,
          operation: operations,
          state: states,
          "question_kind IS NOT NULL": needsPerson,
          "is_untold = 1": isUntold,
          "changed_at < ?": changedBefore,
        },
        "ORDER BY changed_at, workflow_id, step",
        limit,
      ),
    /** Returns which of these ids the ledger has as made, also of pruned writes. */
    owners,
    /** Returns other writes that may have made what is looked for: sending, unknown, asking, ended with doubt. */
    rivals: async (account: string, operation: string, except: WriteName) => {
      const found = await writes({
        "is_open = 1": true,
        "account = ?": account,
        "operation = ?": operation,
        [MAY_HAVE_MADE]: true,
      });
      return found.filter(
        ({ step, workflowId }) => step !== except.step || workflowId !== except.workflowId,
      );
    },
    /** Returns the latest write that was carried out with the same request. */
    doneWith: async (account: string, operation: string, hash: string) => {
      const same = { "hash = ?": hash, "account = ?": account, "operation = ?": operation };
      return (await writes({ ...same, "state = 'done'": true }, "ORDER BY changed_at DESC", 1))[0];
    },
    /** Returns writes of the same workflow id that have, or may have, carried out the same request under another step. */
    sameRequestElsewhere: (
      { account, step, workflowId }: WriteName,
      operation: string,
      hash: string,
    ) =>
      writes(
        {
          "workflow_id = ?": workflowId,
          "account = ?": account,
          "operation = ?": operation,
          "hash = ?": hash,
          "step <> ?": step,
          [`(state = 'done' OR ${MAY_HAVE_MADE})`]: true,
        },
        "ORDER BY created_at",
      ),
    /**
     * Returns for each payment what is likely the same under another workflow id: same payee, amount and currency, and
     * the same reference, or started within a day where one of them has none.
     */
    similarPayments: (account: string, payments: ReadonlyArray<PlannedPayment>) =>
      findSimilar(store, account, payments),
  };
};
