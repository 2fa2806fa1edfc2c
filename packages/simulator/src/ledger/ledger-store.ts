import { Refusal } from "@durable-payments/api-core/contract";
import { Clock, Context, Effect } from "effect";
import type { Change, Journal } from "./journal.ts";
import { type Kind, kinds, type RecordOf } from "./records.ts";

type Records = { readonly [K in Kind]: Map<string, RecordOf<K>> };

const noRecords = (): Records =>
  // One map a kind, each of the kind's own records.
  Object.fromEntries(kinds.map((kind) => [kind, new Map()])) as unknown as Records;

/** One unit of work on the ledger: everything that it puts is kept, or nothing. */
export interface Unit {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The same as ISO 8601. */
  readonly time: string;
  readonly get: <K extends Kind>(kind: K, id: string) => RecordOf<K> | undefined;
  /** Oldest first. */
  readonly all: <K extends Kind>(kind: K) => ReadonlyArray<RecordOf<K>>;
  readonly put: <K extends Kind>(kind: K, id: string, record: RecordOf<K>) => void;
}

/** A step that the simulator takes by itself when its time has come: a payout settles, a check ends. */
export interface Due {
  readonly kind: Kind;
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The simulator's records. */
export class LedgerStore extends Context.Service<
  LedgerStore,
  {
    /**
     * Runs a unit of work at the clock's time, after the steps that are due by then. It is written
     * to the journal before this succeeds; a `Refusal` thrown in it drops everything it did.
     */
    readonly transact: <A>(work: (unit: Unit) => A) => Effect.Effect<A, Refusal>;
  }
>()("@durable-payments/simulator/LedgerStore") {}

const dueAt = (record: RecordOf<Kind>): number | undefined =>
  "due_at" in record ? record.due_at : undefined;

/**
 * Makes a store from the changes of a journal, and from `open` where there are none. `takeStep`
 * carries out what is due; it must put the record without `due_at`, or with a later one.
 */
export const makeLedgerStore = (options: {
  readonly journal: Journal;
  readonly changes: ReadonlyArray<Change> | undefined;
  readonly takeStep: (unit: Unit, due: Due) => void;
  readonly open: (unit: Unit) => void;
}): Effect.Effect<LedgerStore["Service"]> => {
  const records = noRecords();
  const pending = new Map<string, Due>();

  const keep = <K extends Kind>(kind: K, id: string, record: RecordOf<K>) => {
    const ofKind: Map<string, RecordOf<K>> = records[kind];
    ofKind.set(id, record);
    const at = dueAt(record);
    if (at === undefined) pending.delete(`${kind} ${id}`);
    else pending.set(`${kind} ${id}`, { kind, id, at });
  };

  const keepAll = (changes: ReadonlyArray<Change>) => {
    for (const [kind, id, record] of changes) keep(kind, id, record);
  };

  const run = <A>(now: number, work: (unit: Unit) => A): A => {
    const staged = noRecords();
    const answer = work({
      now,
      time: new Date(now).toISOString(),
      get: <K extends Kind>(kind: K, id: string): RecordOf<K> | undefined =>
        staged[kind].get(id) ?? records[kind].get(id),
      all: <K extends Kind>(kind: K): ReadonlyArray<RecordOf<K>> => {
        const kept: Map<string, RecordOf<K>> = records[kind];
        const added: Map<string, RecordOf<K>> = staged[kind];
        return [...(added.size === 0 ? kept : new Map([...kept, ...added])).values()];
      },
      put: <K extends Kind>(kind: K, id: string, record: RecordOf<K>) => {
        const ofKind: Map<string, RecordOf<K>> = staged[kind];
        ofKind.set(id, record);
      },
    });
    const changes = kinds.flatMap((kind) =>
      // Each kind's map holds its own records.
      [...staged[kind].entries()].map(([id, record]) => [kind, id, record] as unknown as Change),
    );
    if (changes.length > 0) {
      options.journal.append(changes);
      keepAll(changes);
    }
    return answer;
  };

  const catchUp = (now: number) => {
    const due = [...pending.values()].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
    // At the time at which it was due, not at which it is noticed.
    for (const step of due) run(step.at, (unit) => options.takeStep(unit, step));
    // A step may make the next one due.
    if (due.length > 0) catchUp(now);
  };

  return Effect.map(Clock.currentTimeMillis, (startedAt) => {
    if (options.changes === undefined) run(startedAt, options.open);
    else keepAll(options.changes);
    return {
      // Synchronous from the clock on, so that no other request and no interruption comes between.
      transact: (work) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          Effect.suspend(() => {
            catchUp(now);
            try {
              return Effect.succeed(run(now, work));
            } catch (cause) {
              return cause instanceof Refusal ? Effect.fail(cause) : Effect.die(cause);
            }
          }),
        ),
    };
  });
};
