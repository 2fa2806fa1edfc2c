import type { HistoryEvent } from "./run-history.ts";

const endOf = (event: HistoryEvent): string | undefined => {
  if ("at" in event && event.kind !== "activity") return event.at;
  return event.kind === "humanTask" ? event.since : event.until;
};

/**
 * When a step was over that a reset kept as done: when the last thing happened in it, and not when the run
 * went on after the reset. Undefined where it was not over by then.
 */
export const endedBeforeReset = (
  events: ReadonlyArray<HistoryEvent>,
  resetAt: string | undefined,
): string | undefined => {
  const signals = events.filter(({ kind }) => kind === "signal");
  // What was still polled for when a signal came is left to be cancelled later.
  const ends = (signals.length > 0 ? signals : events).map(endOf);
  const last = ends.includes(undefined)
    ? undefined
    : ends.toSorted((a = "", b = "") => (a < b ? -1 : 1)).at(-1);
  return resetAt !== undefined && last !== undefined && last < resetAt ? last : undefined;
};
