import { addAbortListener } from "node:events";
import { setTimeout } from "node:timers/promises";

/** Longest time between two looks, in milliseconds. */
const LOOK_EVERY_MS = 2_000;

/**
 * Listens to a signal until it is disposed of. Between two looks nobody else does, and Node never aborts a signal of
 * `AbortSignal.any` whose source ended unheard and was garbage-collected: https://github.com/nodejs/node/issues/65995.
 */
export const listening = (signal: AbortSignal): Disposable =>
  addAbortListener(signal, () => undefined);

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
  using _listening = listening(signal);
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
