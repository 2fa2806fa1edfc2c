/**
 * Removes the texts of old payments, in parts.
 *
 * A ledger that needs pruning has a million writes, and payments continue during the prune. So it is pruned by the
 * order of the workflow ids: each part is one short transaction that excludes only its own ids, and as much time passes
 * before the next part as it took. An interrupt loses nothing: the next prune passes over the pruned ids. Each prune
 * reads every id once.
 *
 * It removes texts and who was paid, and keeps numbers: ids, states, times, amounts. So a list or a report of a pruned year
 * has the same payments and sums. The schema says which columns are texts: a new sealed column is removed, too.
 *
 * Two promises make it subtle. The highest sequence number never goes back, or the witness would report a restore: lines
 * that are newer than the first line of the prune are never removed. And `verify` must tell a pruned log from an
 * edited one: the kept decisions of an id are chained again, but only if its log was intact.
 */
import { PERSON_MARK } from "@durable-payments/client/values";
import { setTimeout as sleep } from "node:timers/promises";
import type { Actor } from "./ledger.ts";
import { feedMethods } from "./feed-methods.ts";
import { chainAgain, logWriter, onWhole, verifyLines } from "./log.ts";
import { payeeKey } from "./payees.ts";
import { BATCH_ROWS, RUNS, WRITES } from "./schema.ts";
import { MOST_KEYS, type Store, type Where } from "./store.ts";
import { listed, query, toJson } from "./table.ts";

/** Returns the statement that removes the texts of a table, and what names a person. */
const clear = ({ name, sealed }: typeof RUNS | typeof WRITES | typeof BATCH_ROWS, more: string) =>
  `UPDATE ${name} SET ${sealed.map((column) => `${column} = NULL`).join(", ")}, ${more}`;
const CLEAR_WRITES = clear(WRITES, "payee = NULL, reference = NULL, run_id = ''");
/** The mark of a person says that a planned payment is a card: its beginning is left. */
const A_PERSON = `CASE WHEN type <> 'onboardCardholder' AND substr(payee, 1, ${PERSON_MARK.length}) = '${PERSON_MARK}' THEN '${PERSON_MARK}' END`;
const CLEAR_RUNS = clear(
  RUNS,
  `payee = ${A_PERSON}, alias = NULL, named_as = NULL, reference = NULL`,
);
const CLEAR_ROWS = clear(BATCH_ROWS, "payee = NULL, reference = NULL, mark = NULL");

/** Rows that no run pays. */
const NOT_STARTED = "state IN ('rejected', 'covered', 'waiting')";

/**
 * Decisions that count as long as the row of the money exists: who started it, what was approved, and who may not
 * approve.
 */
const KEPT = ["start", "approve", "end", "overrule", "amend", "resend", "retry"];

/** Money that is under way or still watched, or that came back and is to be paid again. */
const NEEDED = "(standing IN ('made', 'returned') OR read_after IS NOT NULL)";

/** A run that has ended without a write, and still has a text. */
const ENDED = `end_state <> 'missing' AND coalesce(planned, '') <> 'unknown'
  AND coalesce(${[...RUNS.sealed, `nullif(payee, '${PERSON_MARK}')`, "alias", "reference"].join(", ")}) IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM writes WHERE writes.workflow_id = runs.workflow_id)`;

/** States of a file or repair that starts nothing any more. */
const IS_OVER = "batches.state IN ('rejected', 'cancelled', 'finished')";

/** Nothing about the id is open or later: `$2` is the time, `$3` the last line of the log that may be removed. */
const isQuiet = (table: string): string =>
  `NOT EXISTS (SELECT 1 FROM waits WHERE waits.workflow_id = ${table}.workflow_id AND closed_at IS NULL)
   AND NOT EXISTS (SELECT 1 FROM batch_rows JOIN batches ON batches.id = batch WHERE batch_rows.workflow_id = ${table}.workflow_id
    AND run IS NOT NULL AND NOT ${IS_OVER})
   AND NOT EXISTS (SELECT 1 FROM log WHERE log.workflow_id = ${table}.workflow_id AND (at >= $2 OR sequence > $3))`;

/** A payee that nothing names. */
const UNNAMED = `NOT EXISTS (SELECT 1 FROM writes WHERE writes.payee = payees.payee)
  AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.payee = payees.payee)
  AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.payee = payees.mark AND runs.named_as = payees.payee)
  AND payee NOT IN (SELECT payee FROM batch_rows WHERE payee IS NOT NULL)
  AND payee NOT IN (SELECT mark FROM batch_rows WHERE mark IS NOT NULL)`;

const NOT_KEPT = `kind NOT IN ${listed(KEPT)}`;

/** About the ledger, and no workflow id. */
const LEDGER = { account: "", workflowId: "", step: "" };

/** Removes the texts of old payments. */
export const pruneMethods = (store: Store) => {
  const { database, seal } = store;
  const { among, now } = database.dialect;
  const { pruneEvents } = feedMethods(store);
  const prunePart = (
    part: ReadonlyArray<string>,
    before: number,
    upTo: number,
    { by, reason }: Actor,
  ) => {
    const settled = query(
      `SELECT workflow_id FROM writes WHERE ${among("workflow_id", "$1")}
       AND ${isQuiet("writes")}
       GROUP BY workflow_id HAVING max(is_open) = 0 AND max(changed_at) < $2 AND count(rest) > 0
       AND max(coalesce(outcome_at, 0)) < $2 AND max(CASE WHEN ${NEEDED} THEN 1 ELSE 0 END) = 0
       UNION SELECT workflow_id FROM runs WHERE ${among("workflow_id", "$1")} AND ended_at < $2 AND ${ENDED} AND ${isQuiet("runs")}`,
      toJson(part),
      before,
      upTo,
    );
    const all = store.where(
      `SELECT log.*, ${now} AS now FROM log`,
      { workflow_id: part },
      "ORDER BY sequence",
    );
    return database.write(part, [settled, all], ([gone = [], lines = []]) => {
      const byId = Map.groupBy(lines, (line) => String(line["workflow_id"]));
      // The evidence in an edited log stays.
      const ids = gone
        .map((row) => String(row["workflow_id"]))
        .filter((id) => verifyLines(byId.get(id) ?? [], seal).isIntact);
      if (ids.length === 0) return { value: 0, writes: [] };
      const ofThem = (change: string, where: Where = {}) =>
        store.where(change, { workflow_id: ids, ...where });
      const chains = ids.flatMap((id) => {
        const kept = byId.get(id)?.filter(({ kind }) => KEPT.includes(String(kind))) ?? [];
        if (kept.length === 0) return [];
        const { hash, writes } = chainAgain(kept, seal);
        const log = logWriter(id, hash, Number(kept[0]?.["now"]), seal);
        const what = "old texts and log entries removed";
        log.entry({ who: by, what, details: { reason } }, LEDGER, "", 0);
        return [...writes, ...log.writes];
      });
      return {
        value: ids.length,
        writes: [
          ofThem(CLEAR_WRITES),
          ofThem(CLEAR_ROWS),
          ofThem(CLEAR_RUNS),
          ofThem("DELETE FROM waits"),
          ofThem("DELETE FROM log", { "sequence <= ?": upTo, [NOT_KEPT]: true }),
          ...chains,
        ],
      };
    });
  };

  /** Removes the texts of rows that were never started, of files that ended before a time. */
  const pruneFiles = async (before: number): Promise<void> => {
    const ended = `SELECT id FROM batches WHERE ${IS_OVER}
      AND coalesce(finished_at, created_at) < $1 AND id > $2 ORDER BY id LIMIT 1`;
    for (let after = ""; ;) {
      const [found] = await store.find(query(ended, before, after));
      if (found === undefined) return;
      after = String(found["id"]);
      const some = `SELECT number FROM batch_rows WHERE batch = $1 AND ${NOT_STARTED}
        AND coalesce(${[...BATCH_ROWS.sealed, "payee", "reference", "mark"].join(", ")}) IS NOT NULL LIMIT ${MOST_KEYS}`;
      const part = query(
        `${CLEAR_ROWS} WHERE batch = $1 AND number IN (${some}) RETURNING number`,
        after,
      );
      while ((await store.writeReturning(`batch ${after}`, part)).length > 0);
    }
  };

  /** Removes the descriptions of payees that no payment names any more. */
  const prunePayees = async (): Promise<void> => {
    const select = `SELECT account, payee FROM payees WHERE ${UNNAMED} ORDER BY account, payee LIMIT ${MOST_KEYS}`;
    for (;;) {
      const found = await store.find(query(select));
      if (found.length === 0) return;
      const keys = found.map((row) => payeeKey(String(row["account"]), String(row["payee"])));
      // A payee that is named meanwhile stays.
      const unnamed = `DELETE FROM payees WHERE (account, payee) IN (${select}) AND ${among("'payee ' || account || ' ' || payee", "$1")}`;
      await store.save(keys, [query(unnamed, toJson(keys))]);
    }
  };

  return {
    /**
     * Removes the texts, payees and log of workflow ids that were completed before a time, and of rows of files that were not
     * started. It also removes payees that nothing else names. Account, ids, step, operation, state, amount, currency,
     * outcome, status, times, generation, request hash, result id, starts, approvals and ends are kept: lists and sums stay
     * the same. A payout that is under way, is still watched, or came back keeps everything. The age is the caller's to
     * limit. A million payouts take minutes; nothing else is delayed, and the process may end at any time.
     *
     * @param before milliseconds since 1970 by the ledger's clock.
     * @param onPart is called after each part with the number of workflow ids pruned so far.
     * @returns the number of workflow ids.
     */
    prune: async (
      before: number,
      actor: Actor,
      onPart: (pruned: number) => void = () => undefined,
    ): Promise<number> => {
      const { by } = actor;
      const upTo = await store.logged("", "", [], (_, log) => {
        log.decision({ ...actor, ...onWhole(""), kind: "prune", value: { before } });
        // Leases of workers that were killed.
        const leases = query(`DELETE FROM leases WHERE until <= ${now}`);
        return { value: log.sequence, writes: [leases] };
      });
      let workflowIds = 0;
      for (let after = ""; ;) {
        const ids = ["writes", "runs"].map(
          (table) =>
            `SELECT * FROM (SELECT DISTINCT workflow_id FROM ${table} WHERE workflow_id > $1 ORDER BY workflow_id LIMIT ${MOST_KEYS}) AS ${table}`,
        );
        const next = `${ids.join(" UNION ")} ORDER BY workflow_id LIMIT ${MOST_KEYS}`;
        const part = await store.texts("workflow_id", query(next, after));
        if (part.length === 0) break;
        const begun = performance.now();
        workflowIds += await prunePart(part, before, upTo, actor);
        onPart(workflowIds);
        await sleep(performance.now() - begun);
        after = part.at(-1) ?? after;
      }
      await pruneFiles(before);
      await prunePayees();
      await pruneEvents(before);
      await store.logged("", "", [], (_, log) => {
        log.entry({ who: by, what: "pruned", details: { before, workflowIds } }, LEDGER, "", 0);
        return { value: undefined, writes: [] };
      });
      return workflowIds;
    },
  };
};
