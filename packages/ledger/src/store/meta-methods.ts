import { wake } from "./decision-methods.ts";
import { onWhole } from "./log.ts";
import { DAY_MS } from "./run-filter.ts";
import { LedgerUnavailable, type Store } from "./store.ts";
import * as column from "./column.ts";
import { query, readFields, type RowOf, type SqlRow } from "./table.ts";
import { FAILURE_COUNT, META, WAIT_COUNT, WRITE_COUNT } from "./schema.ts";
import type { Actor, LedgerMark, LedgerState, Overview } from "./ledger.ts";

const READ = {
  ...META.fields,
  sequence: column.number,
  now: column.number,
  serverNow: column.text,
};

/** Identity and state of the ledger, with the parts that only `expect` and `recover` need. */
type Meta = RowOf<typeof READ>;

/** Returns why the ledger does not match its witness; undefined if it does. */
const whyRestored = (meta: Meta, mark: LedgerMark): string | undefined => {
  if (meta.server !== meta.serverNow)
    return "its server was replaced, or a standby or backup took its place";
  if (mark.ledgerId !== meta.ledgerId && !meta.former.includes(mark.ledgerId)) {
    return "it is not the ledger that was in use";
  }
  if (mark.epoch < meta.epoch) return undefined;
  return mark.epoch > meta.epoch || mark.sequence > meta.sequence
    ? `it ends at entry ${meta.sequence}, but had reached ${mark.sequence}`
    : undefined;
};

const markOf = ({ epoch, ledgerId, sequence }: LedgerMark): LedgerMark => ({
  ledgerId,
  epoch,
  sequence,
});

/** Identity, witness, settings of all workers, and overview. */
export const metaMethods = (store: Store) => {
  const { database, seal } = store;
  const { identity, now, sum } = database.dialect;
  const select = query(
    `SELECT meta.*, ${now} AS now, ${identity} AS server_now,
     (SELECT coalesce(max(sequence), 0) FROM log) AS sequence FROM meta`,
  );
  const metaOf = ([found]: ReadonlyArray<SqlRow> = []): Meta => {
    if (found === undefined) throw new LedgerUnavailable("the ledger's table meta is empty");
    const meta = readFields(READ, found, seal);
    // A server has a timeline, too.
    const ledgerId = meta.serverNow === "" ? meta.ledgerId : `${meta.ledgerId}@${meta.serverNow}`;
    return { ...meta, ledgerId };
  };
  /** A restore is noticed once: by `expect`, or by the person who recovers. */
  const noticedAt = ({ now: at, restoredAt, stopped }: Meta): number =>
    stopped === null ? at : (restoredAt ?? at);
  const read = async (): Promise<Meta> => metaOf(await store.find(select));
  const state = async (): Promise<LedgerState> => {
    const { namespace, now: at, stopped, ...mark } = await read();
    return { ...markOf(mark), namespace, stopped, now: at };
  };

  return {
    /** Returns the ledger's identity, its latest entry, and the settings of all workers. */
    state,
    /** Returns the part of `state` that a witness remembers. */
    mark: async () => markOf(await read()),
    /**
     * Compares the ledger with its witness. If the ledger has less, or is another one, it was restored: sends stop
     * until `recover`.
     *
     * @returns whether they match.
     */
    expect: async (mark: LedgerMark): Promise<boolean> => {
      const seen = await read();
      if (seen.stopped === null && whyRestored(seen, mark) === undefined) return true;
      return database.write(null, [select], ([found]) => {
        const meta = metaOf(found);
        const why = whyRestored(meta, mark);
        if (why === undefined) return { value: meta.stopped === null, writes: [] };
        const stop = query(
          "UPDATE meta SET stopped = coalesce(stopped, $1), suspects = $2, seen_epoch = $3, restored_at = $4",
          `The ledger was restored: ${why}.`,
          JSON.stringify([...new Set([...meta.suspects, mark.ledgerId])]),
          Math.max(meta.seenEpoch, mark.epoch),
          noticedAt(meta),
        );
        return { value: false, writes: [stop] };
      });
    },
    /** Begins a new epoch, in which no earlier row proves that nothing was sent, and allows sends. */
    recover: (actor: Actor) =>
      store.logged(null, "", [select], ([found], log) => {
        const meta = metaOf(found);
        const epoch = Math.max(meta.epoch, meta.seenEpoch) + 1;
        const value = { epoch, stopped: meta.stopped };
        log.decision({ ...actor, ...onWhole(""), kind: "recover", value });
        const begin = query(
          "UPDATE meta SET epoch = $1, stopped = NULL, former = $2, suspects = '[]', server = $3, restored_at = $4, was_behind = $5",
          epoch,
          JSON.stringify([...new Set([...meta.former, ...meta.suspects])]),
          meta.serverNow,
          noticedAt(meta),
          meta.stopped === null ? 0 : 1,
        );
        // Runs that wait in the old epoch check again.
        const all = wake({ scope: "all", of: "" }, log.sequence + 1);
        return { value: { ...markOf(meta), epoch }, writes: [begin, ...all] };
      }),
    /** Binds the ledger to a Temporal namespace, once. @throws LedgerUnavailable if it is bound to another. */
    pin: async (namespace: string) => {
      // Read at every start of a worker, and written once.
      if ((await read()).namespace === namespace) return;
      await database.write(null, [select], ([found]) => {
        const { namespace: pinned } = metaOf(found);
        if (pinned !== null && pinned !== namespace) {
          throw new LedgerUnavailable(
            `the ledger at ${database.place} serves the Temporal namespace ${pinned}, not ${namespace}: set PAYMENTS_LEDGER to another ledger`,
          );
        }
        return { value: undefined, writes: [query("UPDATE meta SET namespace = $1", namespace)] };
      });
    },
    /** Returns the open items, and failures of the last day. Its cost grows with these, not with the size of the ledger. */
    overview: async (): Promise<Overview> => {
      const [writes = [], waits = [], [counts] = [], failures = []] = await database.read([
        query(
          `SELECT account, operation, state, question_kind AS question, currency, count(*) AS rows,
           ${sum("amount")} AS amount, min(changed_at) AS since FROM writes WHERE is_open = 1
           GROUP BY account, operation, state, question_kind, currency ORDER BY 1, 2, 3, 4, 5`,
        ),
        query(
          "SELECT account, kind, count(*) AS count, min(since) AS since FROM waits WHERE closed_at IS NULL GROUP BY account, kind ORDER BY account, kind",
        ),
        query("SELECT count(*) AS to_notify FROM writes WHERE must_notify = 1"),
        query(
          `SELECT account, status AS kind, count(*) AS count FROM runs
           WHERE status IN ('failed', 'timedOut', 'terminated') AND ended_at >= (SELECT ${now} - ${DAY_MS})
           GROUP BY account, status
           UNION ALL SELECT account, 'returned', count(*) FROM writes
           WHERE standing = 'returned' AND outcome_at >= (SELECT ${now} - ${DAY_MS}) GROUP BY account`,
        ),
      ]);
      return {
        state: await state(),
        writes: writes.map((found) => readFields(WRITE_COUNT, found, seal)),
        waits: waits.map((found) => readFields(WAIT_COUNT, found, seal)),
        failures: failures.map((found) => readFields(FAILURE_COUNT, found, seal)),
        ...readFields({ toNotify: column.number }, counts ?? {}, seal),
      };
    },
  };
};
