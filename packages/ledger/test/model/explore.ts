import { keyOf } from "./key.ts";
import { Model, isSettled, start, violation } from "./world.ts";
import type { Rules, Setting, Step, World } from "./world.ts";

export interface Found {
  readonly fault: string | undefined;
  readonly trace: ReadonlyArray<string>;
  readonly states: number;
  readonly isComplete: boolean;
}

/** Numbers, millions of them. */
class Numbers {
  #all = new Int32Array(1024);
  length = 0;
  push(one: number): void {
    if (this.length === this.#all.length) {
      const longer = new Int32Array(2 * this.length);
      longer.set(this.#all);
      this.#all = longer;
    }
    this.#all[this.length] = one;
    this.length += 1;
  }
  at(index: number): number {
    return this.#all[index]!;
  }
}

/** The first state from which no settled one can be reached; -1 where there is none. */
const firstStuck = (states: number, settled: Numbers, from: Numbers, to: Numbers): number => {
  // The steps that lead to a state follow one another: `first` says where they begin.
  const first = new Int32Array(states + 1);
  for (let edge = 0; edge < to.length; edge += 1) first[to.at(edge) + 1]! += 1;
  for (let id = 0; id < states; id += 1) first[id + 1]! += first[id]!;
  const next = first.slice();
  const before = new Int32Array(from.length);
  for (let edge = 0; edge < to.length; edge += 1) {
    before[next[to.at(edge)]!] = from.at(edge);
    next[to.at(edge)]! += 1;
  }
  const isAlive = new Uint8Array(states);
  const queue: Array<number> = [];
  const reached = (id: number): void => {
    if (isAlive[id] === 1) return;
    isAlive[id] = 1;
    queue.push(id);
  };
  for (let index = 0; index < settled.length; index += 1) reached(settled.at(index));
  for (let id = queue.pop(); id !== undefined; id = queue.pop())
    for (let at = first[id]!; at < first[id + 1]!; at += 1) reached(before[at]!);
  return isAlive.indexOf(0);
};

/** Looks at every state that can be reached, breadth first: the first fault has the shortest trace. */
export const explore = (
  setting: Setting,
  { rules, limit = 400_000 }: { readonly rules?: Partial<Rules>; readonly limit?: number } = {},
): Found => {
  const model = new Model(setting, rules);
  const ids = new Map<string, number>();
  const worlds: Array<World | undefined> = [];
  const parents = new Numbers();
  const labels: Array<string> = [];
  const [settled, from, to] = [new Numbers(), new Numbers(), new Numbers()];
  const found = (fault: string | undefined, id = 0, last: ReadonlyArray<string> = []): Found => {
    const trace: Array<string> = [];
    for (let at = id; at > 0; at = parents.at(at)) trace.push(labels[at]!);
    const states = worlds.length;
    return {
      fault,
      trace: [...trace.toReversed(), ...last],
      states,
      isComplete: states <= limit || fault !== undefined,
    };
  };
  const idOf = (world: World, parent: number, label: string): number => {
    const key = keyOf(world);
    const known = ids.get(key);
    if (known !== undefined) return known;
    const id = worlds.length;
    ids.set(key, id);
    worlds.push(world);
    parents.push(parent);
    labels.push(label);
    return id;
  };
  idOf(start(setting), 0, "");
  // States that are known but were not looked at take most of the heap: they count.
  for (let id = 0; id < worlds.length && worlds.length <= limit; id += 1) {
    const world = worlds[id]!;
    worlds[id] = undefined;
    if (isSettled(world)) settled.push(id);
    let steps: ReadonlyArray<Step>;
    try {
      steps = model.next(world);
    } catch (error) {
      return found(`threw ${String(error)}`, id);
    }
    for (const { isFault, label, world: next } of steps) {
      const fault = violation(next, setting);
      if (fault !== undefined) return found(fault, id, [label]);
      const reached = idOf(next, id, label);
      if (isFault) continue;
      from.push(id);
      to.push(reached);
    }
  }
  if (worlds.length > limit) return found(undefined);
  const stuck = firstStuck(worlds.length, settled, from, to);
  return stuck === -1 ? found(undefined) : found("stuck", stuck);
};
