/** The outcome of an activity, as the server sends it to the workflow. */
export type ActivityOutcome =
  | { readonly result: unknown }
  | {
      readonly failure: {
        readonly type: string;
        readonly message: string;
        readonly nonRetryable: boolean;
        readonly details: ReadonlyArray<unknown>;
      };
    };

/** The event of one activation of a workflow. Times are milliseconds. */
export type RunEvent = { readonly at: number } & (
  | { readonly kind: "start" }
  /** What follows is done anew, by a new run. */
  | { readonly kind: "reset"; readonly runId: string }
  | { readonly kind: "timer"; readonly seq: number }
  | { readonly kind: "activity"; readonly seq: number; readonly outcome: ActivityOutcome }
  | { readonly kind: "resolve"; readonly resolution: unknown }
  | { readonly kind: "cancel" }
);

/** A sequence of entries; equal sequences are the same object, so that what follows from one is kept with it. */
export interface Chain<Root, Entry> {
  readonly id: number;
  readonly root: Root;
  readonly parent: Chain<Root, Entry> | undefined;
  readonly entry: Entry | undefined;
}

/** Makes chains, each once. */
export class Chains<Root, Entry> {
  readonly #known = new Map<string, Chain<Root, Entry>>();

  root(root: Root): Chain<Root, Entry> {
    return this.#make(JSON.stringify(root), root, undefined, undefined);
  }

  add(parent: Chain<Root, Entry>, entry: Entry): Chain<Root, Entry> {
    return this.#make(`${parent.id}${JSON.stringify(entry)}`, parent.root, parent, entry);
  }

  #make(
    name: string,
    root: Root,
    parent: Chain<Root, Entry> | undefined,
    entry: Entry | undefined,
  ): Chain<Root, Entry> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const made = { id: this.#known.size, root, parent, entry };
    this.#known.set(name, made);
    return made;
  }
}

/** The entries of a chain, the first first. */
export const entriesOf = <Entry>(chain: Chain<unknown, Entry>): ReadonlyArray<Entry> => {
  const entries: Array<Entry> = [];
  for (let at: Chain<unknown, Entry> | undefined = chain; at !== undefined; at = at.parent) {
    if (at.entry !== undefined) entries.push(at.entry);
  }
  return entries.toReversed();
};
