import type { WriteName, WriteRow, WriteState } from "../model/row.ts";
import { isSameAmount } from "./decimal.ts";
import { type Ledger, MadeByAnother, type NewRun } from "./ledger.ts";
import { LogWriter } from "./log.ts";
import { lookOf, readLook } from "./look.ts";
import type { PlannedPayment, SimilarPayment } from "./queries.ts";
import { nextVersion, readRow, saveRow } from "./rows.ts";
import { saveRuns } from "./run-methods.ts";
import { type Seal, UNSEALED } from "./seal.ts";
import {
  chunks,
  Conditions,
  type Database,
  query,
  type Query,
  type SqlRow,
  UniqueViolation,
} from "./sql.ts";
import { number, oneOfOrNull, readFields, type RowOf, text, textOrNull } from "./table.ts";

const SELECT = "SELECT * FROM writes";

/** How long after a payment without a reference the same one is likely a duplicate. */
const DAY_MS = 24 * 60 * 60 * 1000;

const MAY_HAVE_MADE =
  "(state IN ('sending', 'unknown', 'asking') OR (state = 'ended' AND doubt > 0))";

/** States that index `writes_open` has whole. */
const OPEN_STATES: ReadonlySet<string> = new Set(["ready", "sending", "unknown", "asking"]);

/** Returns the run of a first row, whose start nobody has recorded. */
const runOf = ({ account, runId, workflowId }: WriteRow, type: string): NewRun => ({
  account,
  workflowId,
  runId,
  type,
  startedBy: null,
  batch: null,
  batchRow: null,
  // They are the row's: the check of likely duplicates reads both.
  amount: null,
  currency: null,
  payee: null,
  reference: null,
});

/** Runs a change, and says who owns what it is said to have made where that is another write. */
export const orMadeByAnother = async <A>(
  database: Database,
  changed: () => WriteRow | undefined,
  work: () => Promise<A>,
): Promise<A> => {
  try {
    return await work();
  } catch (error) {
    const row = changed();
    if (!(error instanceof UniqueViolation) || row === undefined) throw error;
    const { account, madeId, operation, step, workflowId } = row;
    const [found = []] = await database.read([
      query(
        `${SELECT} WHERE account = $1 AND operation = $2 AND made_id = $3`,
        account,
        operation,
        madeId,
      ),
    ]);
    const owner = found.find(
      (other) => other["workflow_id"] !== workflowId || other["step"] !== step,
    );
    if (owner === undefined) throw error;
    throw new MadeByAnother(readFields(NAME, owner, UNSEALED), madeId ?? "");
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
};
type Payment = RowOf<typeof PAYMENT>;

const NAME = { account: text, workflowId: text, step: text };

const isSimilar = (planned: PlannedPayment, other: Payment, now: number): boolean =>
  other.workflowId !== planned.workflowId &&
  other.currency === planned.currency &&
  isSameAmount(other.amount, planned.amount) &&
  (planned.reference !== null && other.reference !== null
    ? planned.reference === other.reference
    : now - other.at < DAY_MS);

/** Reads and changes of writes. */
export const writeMethods = (
  database: Database,
  seal: Seal,
): Pick<
  Ledger,
  | "look"
  | "transact"
  | "rowsOf"
  | "rows"
  | "owners"
  | "rivals"
  | "doneWith"
  | "sameRequestElsewhere"
  | "similarPayments"
> => {
  const selectLook = lookOf(database.dialect);
  const read = async (asked: Query): Promise<ReadonlyArray<WriteRow>> => {
    const [found = []] = await database.read([asked]);
    return found.map((row) => readRow(row, seal));
  };
  const readAll = async (queries: ReadonlyArray<Query>): Promise<ReadonlyArray<SqlRow>> =>
    queries.length === 0 ? [] : (await database.read(queries)).flat();

  /** Adds to payees the beneficiaries that were created for them, and the marks that beneficiaries were created for. */
  const aliasesOf = async (
    account: string,
    payees: ReadonlyArray<string>,
  ): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
    const found = await readAll(
      chunks(payees).flatMap((some) =>
        ["payee", "made_id"].map((column) =>
          new Conditions()
            .where("account = ?", account)
            .where("operation = ?", "createBeneficiary")
            .among(column, some)
            .when("payee IS NOT NULL AND made_id IS NOT NULL")
            .query("SELECT payee, made_id FROM writes", ""),
        ),
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
    look: async (name) => readLook(name, await readAll([selectLook(name)]), seal).look,
    transact: (name, decide) => {
      let changed: WriteRow | undefined;
      return orMadeByAnother(
        database,
        () => changed,
        () =>
          database.write(name.workflowId, [selectLook(name)], ([found = []]) => {
            const { lastHash, look } = readLook(name, found, seal);
            const { decision, entries = [], row, workflowType } = decide(look);
            changed = row && nextVersion(row, look.row);
            const log = new LogWriter(name.workflowId, lastHash, look.now, seal);
            const of = changed ?? look.row;
            for (const entry of entries) {
              log.entry(entry, name, of?.runId ?? "", of?.generation ?? 0);
            }
            if (decision !== undefined) log.decision(decision);
            return {
              value: { ...look, row: of },
              writes: [
                ...(changed === undefined ? [] : [saveRow(changed, seal)]),
                ...(changed?.version === 1 && workflowType !== undefined
                  ? [saveRuns([runOf(changed, workflowType)], look.now, seal)]
                  : []),
                ...log.writes,
              ],
            };
          }),
      );
    },
    rowsOf: (workflowId) =>
      read(query(`${SELECT} WHERE workflow_id = $1 ORDER BY created_at, step`, workflowId)),
    rows: (filter) => {
      const { account, changedBefore, isUntold, limit, needsPerson, operation, states } = filter;
      const isOpen =
        needsPerson === true ||
        isUntold === true ||
        states?.every((state) => OPEN_STATES.has(state)) === true;
      return read(
        new Conditions()
          .when("is_open = 1", isOpen)
          .where("account = ?", account)
          .where("operation = ?", operation)
          .among("state", states)
          .when("question_kind IS NOT NULL", needsPerson === true)
          .when("question_kind IS NULL", needsPerson === false)
          .where("is_untold = ?", isUntold === undefined ? undefined : Number(isUntold))
          .where("changed_at < ?", changedBefore)
          .query(SELECT, "ORDER BY changed_at, workflow_id, step", limit),
      );
    },
    owners: async (account, operation, ids) => {
      const found = await readAll(
        chunks(ids).map((some) =>
          new Conditions()
            .where("account = ?", account)
            .where("operation = ?", operation)
            .among("made_id", some)
            .query(SELECT, "ORDER BY created_at DESC"),
        ),
      );
      // Of several writes with one beneficiary the first owns it.
      return new Map<string, WriteName>(
        found.map((row) => [String(row["made_id"]), readFields(NAME, row, seal)]),
      );
    },
    rivals: async (account, operation, except) => {
      const found = await read(
        query(
          `${SELECT} WHERE is_open = 1 AND account = $1 AND operation = $2 AND ${MAY_HAVE_MADE}`,
          account,
          operation,
        ),
      );
      return found.filter(
        ({ step, workflowId }) => step !== except.step || workflowId !== except.workflowId,
      );
    },
    doneWith: async (account, operation, hash) => {
      const [latest] = await read(
        query(
          `${SELECT} WHERE hash = $1 AND account = $2 AND operation = $3 AND state = 'done'
           ORDER BY changed_at DESC LIMIT 1`,
          hash,
          account,
          operation,
        ),
      );
      return latest;
    },
    sameRequestElsewhere: ({ account, step, workflowId }, operation, hash) =>
      read(
        query(
          `${SELECT} WHERE workflow_id = $1 AND account = $2 AND operation = $3 AND hash = $4
           AND step <> $5 AND (state = 'done' OR ${MAY_HAVE_MADE}) ORDER BY created_at`,
          workflowId,
          account,
          operation,
          hash,
          step,
        ),
      ),
    similarPayments: async (account, payments) => {
      const aliases = await aliasesOf(account, [
        ...new Set(payments.flatMap(({ payees }) => payees)),
      ]);
      const all = [...new Set([...aliases.values()].flatMap((some) => [...some]))];
      const state = `(SELECT max(writes.state) FROM writes WHERE writes.workflow_id = runs.workflow_id AND writes.operation = 'createPayout')`;
      const found = await readAll(
        chunks(all).flatMap((some) => [
          new Conditions()
            .where("account = ?", account)
            .among("payee", some)
            .when("amount IS NOT NULL AND currency IS NOT NULL")
            .query(
              `SELECT workflow_id, reference, payee, amount, currency, started_at AS at, ${state} AS state FROM runs`,
              "",
            ),
          new Conditions()
            .where("account = ?", account)
            .where("operation = ?", "createPayout")
            .among("payee", some)
            .when("amount IS NOT NULL AND currency IS NOT NULL")
            .query(
              "SELECT workflow_id, reference, payee, amount, currency, created_at AS at, state FROM writes",
              "",
            ),
        ]),
      );
      const byPayee = Map.groupBy(
        found.map((one) => readFields(PAYMENT, one, seal)),
        ({ payee }) => payee,
      );
      const [[clock] = []] = await database.read([query(`SELECT ${database.dialect.now} AS now`)]);
      const now = Number(clock?.["now"]);
      return payments.map((planned) => {
        const similar = new Map<string, SimilarPayment>();
        const names = planned.payees.flatMap((payee) => [...(aliases.get(payee) ?? [])]);
        for (const name of names) {
          for (const other of byPayee.get(name) ?? []) {
            // Certainly not paid.
            if (other.state === "refused" || other.state === "undone") continue;
            if (!isSimilar(planned, other, now)) continue;
            const { at, reference, state: became, workflowId } = other;
            similar.set(workflowId, { workflowId, reference, state: became, at });
          }
        }
        return [...similar.values()];
      });
    },
  };
};
