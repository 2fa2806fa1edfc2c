import type { Ledger } from "./ledger.ts";
import { endAmong, lastHashOf, LogWriter, readDecision, selectLastHash } from "./log.ts";
import { WAITS, WRITES } from "./schema.ts";
import type { Seal } from "./seal.ts";
import { chunks, Conditions, type Database, query, type SqlRow } from "./sql.ts";
import { number, readFields, text } from "./table.ts";

const { account, currency, operation, questionKind, state: STATE } = WRITES.fields;
const COUNT = {
  account,
  operation,
  state: STATE,
  question: questionKind,
  currency,
  rows: number,
  amount: text,
  since: number,
};
const WAIT_COUNT = { kind: WAITS.fields.kind, count: number, since: number };

const countOf = ([found]: ReadonlyArray<SqlRow>): number => Number(found?.["found"]);
const idOf = (found: SqlRow): string => String(found["workflow_id"]);

/** The ledger at a glance, and what keeps it small. */
export const upkeepMethods = (
  database: Database,
  seal: Seal,
  state: Ledger["state"],
): Pick<Ledger, "overview" | "prune"> => {
  const { now, sum } = database.dialect;
  return {
    overview: async () => {
      const [writes = [], waits = [], runs = [], untold = []] = await database.read([
        query(
          `SELECT account, operation, state, question_kind AS question, currency, count(*) AS rows,
           ${sum("amount")} AS amount, min(changed_at) AS since FROM writes
           GROUP BY account, operation, state, question_kind, currency ORDER BY 1, 2, 3, 4, 5`,
        ),
        query(
          "SELECT kind, count(*) AS count, min(since) AS since FROM waits WHERE closed_at IS NULL GROUP BY kind ORDER BY kind",
        ),
        query("SELECT count(*) AS found FROM runs"),
        query("SELECT count(*) AS found FROM writes WHERE is_open = 1 AND is_untold = 1"),
      ]);
      return {
        state: await state(),
        writes: writes.map((found) => readFields(COUNT, found, seal)),
        waits: waits.map((found) => readFields(WAIT_COUNT, found, seal)),
        runs: countOf(runs),
        untold: countOf(untold),
      };
    },
    prune: (before, actor) =>
      database.write(
        null,
        [
          query(`SELECT ${now} AS now`),
          query(
            `SELECT workflow_id, count(*) AS found FROM writes GROUP BY workflow_id
             HAVING max(is_open) = 0 AND max(changed_at) < $1 AND max(rest) IS NOT NULL`,
            before,
          ),
          query(
            `SELECT DISTINCT workflow_id FROM log WHERE at >= $1
             UNION SELECT workflow_id FROM waits WHERE closed_at IS NULL`,
            before,
          ),
          query(
            "SELECT * FROM log WHERE is_decision = 1 AND kind IN ('end', 'overrule') ORDER BY sequence",
          ),
          selectLastHash(""),
        ],
        ([[context = {}] = [], settled = [], inUse = [], ends = [], last = []]) => {
          const used = new Set(inUse.map(idOf));
          const gone = settled.filter((found) => !used.has(idOf(found)));
          const ids = gone.map(idOf);
          const decisions = Map.groupBy(
            ends.map((line) => readDecision(line, seal)),
            ({ workflowId }) => workflowId,
          );
          const log = new LogWriter("", lastHashOf(last), Number(context["now"]), seal);
          const pruned = {
            workflowIds: ids.length,
            writes: gone.reduce((total, found) => total + Number(found["found"]), 0),
          };
          const name = { account: "", workflowId: "", step: "" };
          const details = { ...pruned, before };
          log.entry({ kind: "note", who: actor.by, what: "pruned", details }, name, "", 0);
          return {
            value: pruned,
            writes: [
              ...chunks(ids).flatMap((some) => [
                new Conditions()
                  .among("workflow_id", some)
                  .query(
                    `UPDATE writes SET rest = NULL, amount = NULL, currency = NULL, payee = NULL, reference = NULL, run_id = ''`,
                    "",
                  ),
                new Conditions().among("workflow_id", some).query("DELETE FROM runs", ""),
                new Conditions()
                  .among("workflow_id", some)
                  // One may have been opened just now.
                  .when("closed_at IS NOT NULL")
                  .query("DELETE FROM waits", ""),
              ]),
              ...ids.map((id) =>
                query(
                  "DELETE FROM log WHERE workflow_id = $1 AND sequence <> $2",
                  id,
                  // An end holds for ever.
                  endAmong(decisions.get(id) ?? [])?.sequence ?? 0,
                ),
              ),
              ...log.writes,
            ],
          };
        },
      ),
  };
};
