import { endVerification } from "./cards.ts";
import { settlePayout } from "./payouts.ts";
import { type Kind, kinds, type RecordOf } from "./records.ts";
import type { Behaviour, Unit } from "./unit.ts";

/** One record after a unit of work. */
export type Change = { [K in Kind]: readonly [kind: K, id: string, record: RecordOf<K>] }[Kind];

type Records = { readonly [K in Kind]: Map<string, RecordOf<K>> };

interface Due {
  readonly kind: Kind;
  readonly id: string;
  readonly at: number;
}

const noRecords = (): Records =>
  // One map a kind, each of the kind's own records.
  Object.fromEntries(kinds.map((kind) => [kind, new Map()])) as unknown as Records;

const takeStep = (unit: Unit, { id, kind }: Due): void =>
  kind === "payouts" ? settlePayout(unit, id) : endVerification(unit, id);

/** The records of the service. It speaks no HTTP and has no clock: each unit of work names its time. */
export class ServiceModel {
  readonly #records = noRecords();
  /** Changes that become due later: a payout settles, an identity check ends. */
  readonly #pending = new Map<string, Due>();
  readonly #behaviour: () => Behaviour;
  readonly #append: (changes: ReadonlyArray<Change>) => void;

  /**
   * @param behaviour read by each unit of work
   * @param changes of earlier units, oldest first
   * @param append keeps the changes of a unit before it counts as done
   */
  constructor(
    behaviour: () => Behaviour,
    changes: ReadonlyArray<Change> = [],
    append: (changes: ReadonlyArray<Change>) => void = () => {},
  ) {
    this.#behaviour = behaviour;
    this.#append = append;
    this.#keep(changes);
  }

  /**
   * Does all steps that are due by `now`, each at its time, then one unit of work.
   *
   * @returns what `work` returns
   * @throws Refusal of the work, which has changed nothing then.
   */
  transact<A>(now: number, work: (unit: Unit) => A): A {
    for (const step of this.#due(now)) this.#run(step.at, (unit) => takeStep(unit, step));
    return this.#run(now, work);
  }

  #due(now: number): ReadonlyArray<Due> {
    const due = [...this.#pending.values()].filter(({ at }) => at <= now);
    return due.sort((one, other) => one.at - other.at);
  }

  #keep(changes: ReadonlyArray<Change>): void {
    for (const [kind, id, record] of changes) {
      const ofKind: Map<string, RecordOf<Kind>> = this.#records[kind];
      ofKind.set(id, record);
      const at = "due_at" in record ? record.due_at : undefined;
      if (at === undefined) this.#pending.delete(`${kind} ${id}`);
      else this.#pending.set(`${kind} ${id}`, { kind, id, at });
    }
  }

  #run<A>(now: number, work: (unit: Unit) => A): A {
    const records = this.#records;
    const staged = noRecords();
    const done = work({
      now,
      time: new Date(now).toISOString(),
      behaviour: this.#behaviour(),
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
      this.#append(changes);
      this.#keep(changes);
    }
    return done;
  }
}
