import { compareDecimals } from "../model/decimal.ts";
import type { WriteName, WriteRow, WriteState } from "../model/row.ts";
import {
  type Change,
  type Look,
  MadeByAnother,
  type PlannedPayment,
  type SimilarPayment,
} from "./ledger.ts";
import { LogWriter } from "./log.ts";
import { lookOf, nextVersion, readLook, readRow, saveRow } from "./rows.ts";
import { saveRun } from "./run-methods.ts";
import { query, type Query, UniqueViolation } from "./sql.ts";
import type { Store, Where } from "./store.ts";
import { number, oneOfOrNull, readFields, type RowOf, text, textOrNull } from "./table.ts";

/** How long after a payment without a reference the same one is likely a duplicate. */
const DAY_MS = 24 * 60 * 60 * 1000;

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
  readonly needsPerson?: boolean;
  /** Rows whose run has yet to be notified. */
  readonly isUntold?: boolean;
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

/** Runs a change, which says what it saves; where that is said to be made by another write, says whose it is. */
export const orMadeByAnother = async <A>(
  store: Store,
  work: (changing: (row: WriteRow) => void) => Promise<A>,
): Promise<A> => {
  let row: WriteRow | undefined;
  try {
    return await work((changed) => (row = changed));
  } catch (error) {
    if (!(error instanceof UniqueViolation) || row === undefined) throw error;
    const { account, madeId, operation, step, workflowId } = row;
    const found = await store.find(
      store.where("SELECT * FROM writes", {
        "account = ?": account,
        "operation = ?": operation,
        "made_id = ?": madeId,
      }),
    );
    const owner = found
      .map((other) => readFields(NAME, other, store.seal))
      .find((other) => other.workflowId !== workflowId || other.step !== step);
    throw owner === undefined ? error : new MadeByAnother(owner, madeId ?? "");
  }
};

/** One payment that may be the same as a planned one, of a run or a write. */
const PAYMENT = {
  workflowId: text,
  reference: textOrNull,
  payee: text,
  amount: text,
  currency: text,
  state: oneOfOrNull<WriteState>(),
  at: number,
  now: number,
};
type Payment = RowOf<typeof PAYMENT>;

/** The payments of runs, and those of writes. */
const PAYMENTS: ReadonlyArray<readonly [string, Where]> = [
  [
    "started_at AS at, (SELECT max(state) FROM writes WHERE writes.workflow_id = runs.workflow_id AND operation = 'createPayout') AS state FROM runs",
    {},
  ],
  ["created_at AS at, state FROM writes", { "operation = 'createPayout'": true }],
];

const isSimilar = (planned: PlannedPayment, other: Payment): boolean =>
  // Certainly not paid.
  other.state !== "refused" &&
  other.state !== "undone" &&
  other.workflowId !== planned.workflowId &&
  other.currency === planned.currency &&
  compareDecimals(other.amount, planned.amount) === 0 &&
  (planned.reference !== null && other.reference !== null
    ? planned.reference === other.reference
    : other.now - other.at < DAY_MS);

/** Reads and changes of writes. */
export const writeMethods = (store: Store) => {
  const { database, seal } = store;
  const selectLook = lookOf(database.dialect);
  const read = async (asked: Query): Promise<ReadonlyArray<WriteRow>> =>
    (await store.find(asked)).map((row) => readRow(row, seal));
  const writes = (where: Where, rest?: string, limit?: number) =>
    read(store.where("SELECT * FROM writes", where, rest, limit));

  /** Adds to payees the beneficiaries that were created for them, and the marks that beneficiaries were created for. */
  const aliasesOf = async (
    account: string,
    payees: ReadonlyArray<string>,
  ): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
    const { among } = database.dialect;
    const found = await store.find(
      query(
        `SELECT payee, made_id FROM writes WHERE account = $1 AND operation = 'createBeneficiary'
         AND payee IS NOT NULL AND made_id IS NOT NULL AND (${among("payee", "$2")} OR ${among("made_id", "$2")})`,
        account,
        JSON.stringify(payees),
      ),
    );
    const aliases = new Map(payees.map((payee) => [payee, new Set([payee])]));
    for (const row of found) {
      const [payee, madeId] = [String(row["payee"]), String(row["made_id"])];
      aliases.get(payee)?.add(madeId);
      aliases.get(madeId)?.add(payee);
    }
    return aliases;
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
    transact: (name: WriteName, decide: (look: Look) => Change): Promise<Look> =>
      orMadeByAnother(store, (changing) =>
        database.write(name.workflowId, [selectLook(name)], ([found = []]) => {
          const { lastHash, look } = readLook(name, found, seal);
          const { decision, entries = [], row, workflowType } = decide(look);
          const log = new LogWriter(name.workflowId, lastHash, look.now, seal);
          const changed = row && nextVersion(row, look.row);
          const of = changed ?? look.row;
          const saved: Array<Query> = [];
          if (changed !== undefined) {
            changing(changed);
            saved.push(saveRow(changed, seal));
            if (changed.version === 1 && workflowType !== undefined) {
              // Its payment is the row's: the check of likely duplicates reads both.
              const { account, runId, workflowId } = changed;
              const run = { account, workflowId, runId, type: workflowType, startedAt: look.now };
              saved.push(saveRunOf(run, seal));
            }
          }
          for (const entry of entries) {
            log.entry(entry, name, of?.runId ?? "", of?.generation ?? 0);
          }
          if (decision !== undefined) log.decision(decision);
          return { value: { ...look, row: of }, writes: [...saved, ...log.writes] };
        }),
      ),
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
            needsPerson === true ||
            isUntold === true ||
            states?.every((state) => OPEN_STATES.has(state)) === true,
          "account = ?": account,
          operation: operations,
          state: states,
          "question_kind IS NOT NULL": needsPerson === true,
          "question_kind IS NULL": needsPerson === false,
          "is_untold = ?": isUntold === undefined ? undefined : Number(isUntold),
          "changed_at < ?": changedBefore,
        },
        "ORDER BY changed_at, workflow_id, step",
        limit,
      ),
    /** Returns which of these ids the ledger has as made, also of pruned writes. */
    owners: async (
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
    },
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
    similarPayments: async (
      account: string,
      payments: ReadonlyArray<PlannedPayment>,
    ): Promise<ReadonlyArray<ReadonlyArray<SimilarPayment>>> => {
      const payees = new Set(payments.flatMap((planned) => planned.payees));
      const aliases = await aliasesOf(account, [...payees]);
      const names = [...new Set([...aliases.values()].flatMap((some) => [...some]))];
      const found = await store.find(
        ...PAYMENTS.map(([some, where]) =>
          store.where(
            `SELECT workflow_id, reference, payee, amount, currency, ${database.dialect.now} AS now, ${some}`,
            {
              ...where,
              "account = ?": account,
              payee: names,
              "amount IS NOT NULL AND currency IS NOT NULL": true,
            },
          ),
        ),
      );
      const byPayee = Map.groupBy(
        found.map((one) => readFields(PAYMENT, one, seal)),
        ({ payee }) => payee,
      );
      return payments.map((planned) => {
        const similar = new Map<string, SimilarPayment>();
        const all = planned.payees
          .flatMap((payee) => [...(aliases.get(payee) ?? [])])
          .flatMap((name) => byPayee.get(name) ?? []);
        for (const other of all) {
          const { at, reference, state, workflowId } = other;
          if (isSimilar(planned, other))
            similar.set(workflowId, { workflowId, reference, state, at });
        }
        return [...similar.values()];
      });
    },
  };
};
