/**
 * Removes the texts of old payments, in parts.
 *
 * A ledger that needs pruning has a million writes, and payments continue meanwhile. So it is pruned by the order of the
 * workflow ids: each part is one short transaction that excludes only its own ids, and as much time passes before the next
 * part as it took. An interrupt loses nothing: the next prune passes over the pruned ids. Each prune reads every id once.
 *
 * Two promises make it subtle. The highest sequence number never goes back, or the witness would report a restore: lines
 * that are newer than the line by which the prune begins are never removed. And `verify` must tell a pruned log from an
 * edited one: the log of an id that keeps its end gets a line with the hash that this end follows.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Actor } from "./ledger.ts";
import { logWriter } from "./log.ts";
import type { Store, Where } from "./store.ts";
import { query, toJson } from "./table.ts";

/** Workflow ids of one part. Each is an advisory lock on PostgreSQL, whose lock table has room for some 6,400. */
const PART = 250;

/** The remains of a write. */
const CLEAR = "amount = NULL, currency = NULL, payee = NULL, reference = NULL";

/** An end applies forever, unless it is overridden. */
const IS_END = `kind <> '' AND kind = 'end' AND sequence = (SELECT max(sequence) FROM log AS last
  WHERE last.workflow_id = log.workflow_id AND last.kind <> '' AND last.kind IN ('end', 'overrule'))`;

/** The hash of the line that is removed before a kept one. */
const REMOVED_BEFORE = `(SELECT hash FROM log AS earlier WHERE earlier.workflow_id = log.workflow_id
  AND earlier.sequence < log.sequence ORDER BY earlier.sequence DESC LIMIT 1)`;

/** About the ledger, and no workflow id. */
const LEDGER = { account: "", workflowId: "", step: "" };

/** Removes the texts of old payments. */
export const pruneMethods = (store: Store) => {
  const { database, seal } = store;
  const { among, now } = database.dialect;
  const prunePart = (
    part: ReadonlyArray<string>,
    before: number,
    upTo: number,
    by: string,
  ): Promise<number> => {
    const settled = query(
      `SELECT workflow_id FROM writes WHERE ${among("workflow_id", "$1")}
       AND NOT EXISTS (SELECT 1 FROM waits WHERE waits.workflow_id = writes.workflow_id AND closed_at IS NULL)
       AND NOT EXISTS (SELECT 1 FROM log WHERE log.workflow_id = writes.workflow_id AND (at >= $2 OR sequence > $3))
       GROUP BY workflow_id HAVING max(is_open) = 0 AND max(changed_at) < $2 AND count(rest) > 0`,
      toJson(part),
      before,
      upTo,
    );
    const ends = store.where(
      `SELECT workflow_id, hash, ${now} AS now, ${REMOVED_BEFORE} AS follows FROM log`,
      { workflow_id: part, [IS_END]: true },
    );
    return database.write(part, [settled, ends], ([gone = [], kept = []]) => {
      const ids = gone.map((row) => String(row["workflow_id"]));
      if (ids.length === 0) return { value: 0, writes: [] };
      const ofThem = (change: string, where: Where = {}) =>
        store.where(change, { workflow_id: ids, ...where });
      const marks = kept.flatMap(({ follows, hash, now, workflow_id }) => {
        const workflowId = String(workflow_id);
        const log = logWriter(workflowId, String(hash), Number(now), seal);
        if (typeof follows === "string" && ids.includes(workflowId))
          log.entry({ who: by, what: "pruned", details: {} }, LEDGER, "", 0, follows);
        return log.writes;
      });
      return {
        value: ids.length,
        writes: [
          ofThem(`UPDATE writes SET ${CLEAR}, rest = NULL, run_id = ''`),
          ofThem(`UPDATE batch_rows SET ${CLEAR}, message = NULL`),
          ofThem("DELETE FROM runs"),
          ofThem("DELETE FROM waits"),
          ofThem("DELETE FROM log", { "sequence <= ?": upTo, [`NOT (${IS_END})`]: true }),
          ...marks,
        ],
      };
    });
  };

  return {
    /**
     * Removes the texts, amounts and log of workflow ids all of whose writes were completed before a time. Account, ids,
     * step, operation, state, generation, request hash, result id and ends are kept. A million payouts take minutes;
     * nothing else is delayed, and the process may end at any time.
     *
     * @param before milliseconds since 1970 by the ledger's clock.
     * @param onPart is called after each part with the number of workflow ids pruned so far.
     * @returns the number of workflow ids.
     */
    prune: async (
      before: number,
      { by, reason }: Actor,
      onPart: (pruned: number) => void = () => undefined,
    ): Promise<number> => {
      const [newest] = await store.find(
        query("SELECT coalesce(max(sequence), 0) AS sequence FROM log"),
      );
      const note = (what: string, details = {}) =>
        store.logged("", "", [], (_, log) => {
          log.entry({ who: by, what, details: { ...details, before, reason } }, LEDGER, "", 0);
          // Those of workers that were killed.
          const leases = query(`DELETE FROM leases WHERE until <= ${now}`);
          return { value: undefined, writes: [leases] };
        });
      await note("prune began");
      let workflowIds = 0;
      for (let after = ""; ;) {
        const next = `SELECT DISTINCT workflow_id FROM writes WHERE workflow_id > $1 ORDER BY workflow_id LIMIT ${PART}`;
        const found = await store.find(query(next, after));
        const part = found.map((row) => String(row["workflow_id"]));
        if (part.length === 0) break;
        const begun = performance.now();
        workflowIds += await prunePart(part, before, Number(newest?.["sequence"]), by);
        onPart(workflowIds);
        await sleep(performance.now() - begun);
        after = part.at(-1) ?? after;
      }
      await note("pruned", { workflowIds });
      return workflowIds;
    },
  };
};
