import { setTimeout } from "node:timers/promises";

/** Longest time between two looks, in milliseconds. */
const LOOK_EVERY_MS = 2_000;

/**
 * Follows something to its end.
 *
 * @param read reads it, at each look.
 * @param of returns the facts that change, and whether it has ended.
 * @param signal ends it.
 * @returns a view each time that a fact has changed; the last one is of the end.
 */
export async function* follow<A>(
  read: () => Promise<A>,
  of: (view: A) => { readonly facts: unknown; readonly isOver: boolean },
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<A> {
  for (let latest = ""; !signal.aborted;) {
    const view = await read();
    const { facts, isOver } = of(view);
    const seen = JSON.stringify(facts);
    if (seen !== latest) yield view;
    latest = seen;
    if (isOver) return;
    await setTimeout(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
