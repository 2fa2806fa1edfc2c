import { setImmediate } from "node:timers";
import { vi } from "vitest";

const RealDate = Date;
let now = 0;

class VirtualDate extends RealDate {
  constructor(...given: [] | [number | string | Date]) {
    if (given.length === 0) super(now);
    else super(given[0]);
  }

  static override now(): number {
    return now;
  }
}

/** Set what `Date` and the monotonic clock show, in milliseconds. */
export const setTime = (at: number): void => {
  now = at;
};

/**
 * Stop the clocks: they show what {@link setTime} has set. Heartbeats are not sent: an execution that is
 * left in its middle would send them for ever.
 *
 * @returns how to let them run again.
 */
export const stopClocks = (): (() => void) => {
  vi.stubGlobal("Date", VirtualDate);
  vi.stubGlobal("setInterval", () => 0);
  vi.stubGlobal("clearInterval", () => undefined);
  const monotonic = vi.spyOn(performance, "now").mockImplementation(() => now);
  return () => {
    vi.unstubAllGlobals();
    monotonic.mockRestore();
  };
};

/** Wait until everything that needs no event has run. */
export const idle = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
