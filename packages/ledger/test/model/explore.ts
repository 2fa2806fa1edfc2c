import { Model, isSettled, start, violation } from "./world.ts";
import type { Rules, Setting, Step, World } from "./world.ts";

export interface Found {
  readonly fault: string | undefined;
  readonly trace: ReadonlyArray<string>;
  readonly states: number;
  readonly isComplete: boolean;
}

const VERSIONS = /("(?:version|knownFrom)":)(\d+)/gu;

/** Versions count by their order alone. */
const keyOf = (world: World): string => {
  const text = JSON.stringify(world);
  const versions = new Set<number>();
  for (const [, , version] of text.matchAll(VERSIONS)) versions.add(Number(version));
  const ranks = [...versions].toSorted((one, other) => one - other);
  return text.replaceAll(
    VERSIONS,
    (_, name: string, version) => name + ranks.indexOf(Number(version)),
  );
};

/** Looks at every state that can be reached, breadth first: the first fault has the shortest trace. */
export const explore = (
  setting: Setting,
  { rules, limit = 400_000 }: { readonly rules?: Partial<Rules>; readonly limit?: number } = {},
): Found => {
  const model = new Model(setting, rules);
  const ids = new Map<string, number>();
  const worlds: Array<World | undefined> = [];
  const parents: Array<readonly [number, string]> = [];
  const before: Array<Array<number>> = [];
  const settled: Array<number> = [];
  const traceTo = (id: number): ReadonlyArray<string> => {
    const labels: Array<string> = [];
    for (let at = id; at > 0; at = parents[at]![0]) labels.push(parents[at]![1]);
    return labels.toReversed();
  };
  const idOf = (world: World, parent: number, label: string): number => {
    const key = keyOf(world);
    const known = ids.get(key);
    if (known !== undefined) return known;
    const id = worlds.length;
    ids.set(key, id);
    worlds.push(world);
    parents.push([parent, label]);
    before.push([]);
    return id;
  };
  idOf(start(setting), 0, "");
  for (let id = 0; id < worlds.length && id < limit; id += 1) {
    const world = worlds[id]!;
    worlds[id] = undefined;
    if (isSettled(world)) settled.push(id);
    let steps: ReadonlyArray<Step>;
    try {
      steps = model.next(world);
    } catch (error) {
      return {
        fault: `threw ${String(error)}`,
        trace: traceTo(id),
        states: worlds.length,
        isComplete: true,
      };
    }
    for (const { isFault, label, world: next } of steps) {
      const fault = violation(next, setting);
      if (fault !== undefined)
        return { fault, trace: [...traceTo(id), label], states: worlds.length, isComplete: true };
      const to = idOf(next, id, label);
      if (!isFault) before[to]!.push(id);
    }
  }
  const isComplete = worlds.length <= limit;
  const alive = new Uint8Array(worlds.length);
  const queue = [...settled];
  for (const id of queue) alive[id] = 1;
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    for (const from of before[id]!) {
      if (alive[from] === 1) continue;
      alive[from] = 1;
      queue.push(from);
    }
  }
  const stuck = isComplete ? alive.indexOf(0) : -1;
  return stuck === -1
    ? { fault: undefined, trace: [], states: worlds.length, isComplete }
    : { fault: "stuck", trace: traceTo(stuck), states: worlds.length, isComplete };
};
