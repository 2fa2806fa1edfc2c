/**
 * Removes the texts of old payments, in parts.
 *
 * A ledger that needs pruning has a million writes, and payments continue meanwhile. So it is pruned by the order of the
 * workflow ids: each part is one short transaction that excludes only its own ids, and as much time passes before the next
 * part as it took. An interrupt loses nothing: the next prune passes over the pruned ids. Each prune reads every id once.
 *
 * Two promises make it subtle. The highest sequence number never goes back, or the witness would report a restore: lines
 * that are newer than the line by which the prune begins are never removed. And `verify` must tell a pruned log from an
 * edited one: the log of an id that keeps decisions gets a line with the hashes of the removed lines that they follow.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Actor } from "./ledger.ts";
import { followsOf, logWriter } from "./log.ts";
import type { Store, Where } from "./store.ts";
import { number, query, readFields, type RowOf, text, textOrNull, toJson } from "./table.ts";

/** Workflow ids of one part. Each is an advisory lock on PostgreSQL, whose lock table has room for some 6,400. */
const PART = 250;

/** The remains of a write. */
const CLEAR = "amount = NULL, currency = NULL, payee = NULL, reference = NULL";

/** Decisions that count as long as the row of the money exists: who started it, what was approved, and who may not approve. */
const KEPT = ["start", "approve", "end", "overrule", "amend", "resend"];

const NOT_KEPT = `kind NOT IN (${KEPT.map((kind) => `'${kind}'`).join(", ")})`;

const LINE = { sequence: number, hash: text, kind: text, follows: textOrNull, workflowId: text };
type Line = RowOf<typeof LINE>;

/** Returns the hash that each kept line follows, by its sequence, where the line before it is removed. */
const followed = (lines: ReadonlyArray<Line>): Readonly<Record<string, string>> => {
  const known = followsOf(lines);
  const follows: Record<string, string> = {};
  let [before, kept] = ["", ""];
  for (const { hash, kind, sequence } of lines) {
    before = known.get(sequence) ?? before;
    if (KEPT.includes(kind)) {
      if (before !== kept) follows[sequence] = before;
      kept = hash;
    }
    before = hash;
  }
  return follows;
};

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
    const all = store.where(
      "SELECT workflow_id, sequence, hash, kind, follows FROM log",
      { workflow_id: part },
      "ORDER BY sequence",
    );
    const at = query(`SELECT ${now} AS now`);
    return database.write(
      part,
      [settled, all, at],
      ([gone = [], found = [], [clock = {}] = []]) => {
        const ids = gone.map((row) => String(row["workflow_id"]));
        if (ids.length === 0) return { value: 0, writes: [] };
        const ofThem = (change: string, where: Where = {}) =>
          store.where(change, { workflow_id: ids, ...where });
        const lines = Map.groupBy(
          found.map((line) => readFields(LINE, line, seal)),
          ({ workflowId }) => workflowId,
        );
        const marks = ids.flatMap((id) => {
          const last = lines.get(id)?.findLast(({ kind }) => KEPT.includes(kind));
          if (last === undefined) return [];
          const log = logWriter(id, last.hash, Number(clock["now"]), seal);
          const follows = toJson(followed(lines.get(id) ?? []));
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
            ofThem("DELETE FROM log", { "sequence <= ?": upTo, [NOT_KEPT]: true }),
            ...marks,
          ],
        };
      },
    );
  };

  return {
    /**
     * Removes the texts, amounts and log of workflow ids all of whose writes were completed before a time. Account, ids,
     * step, operation, state, generation, request hash, result id, starts, approvals and ends are kept. The age is the
     * caller's to limit. A million payouts take minutes;
     * nothing else is delayed, and the process may end at any time.
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
      const [newest] = await store.find(
        query("SELECT coalesce(max(sequence), 0) AS sequence FROM log"),
      );
      await store.logged("", "", [], (_, log) => {
        const about = { account: "", workflowId: "", step: null, question: null };
        log.decision({ ...actor, ...about, kind: "prune", value: { before } });
        // Those of workers that were killed.
        const leases = query(`DELETE FROM leases WHERE until <= ${now}`);
        return { value: undefined, writes: [leases] };
      });
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
      await store.logged("", "", [], (_, log) => {
        log.entry({ who: by, what: "pruned", details: { before, workflowIds } }, LEDGER, "", 0);
        return { value: undefined, writes: [] };
      });
      return workflowIds;
    },
  };
};
