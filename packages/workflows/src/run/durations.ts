import type { Duration } from "@durable-payments/protocol";
import { msToNumber } from "@temporalio/common/lib/time.js";
import { runFailure } from "./failures.ts";

/** A hundred years: the end of a longer wait is no date that every part can hold. */
const LONGEST_MS = 36_525 * 24 * 60 * 60_000;

/** Read a length of time, in milliseconds; undefined where it is none, whatever its type says. */
export const durationOf = (value: Duration): number | undefined => {
  try {
    const ms = msToNumber(value);
    return Math.abs(ms) <= LONGEST_MS ? ms : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Read the length of a wait: an error of another type would fail the workflow task, for ever.
 *
 * @returns milliseconds.
 * @throws InvalidRequest where it is no duration.
 */
export const durationMs = (value: Duration): number => {
  const ms = durationOf(value);
  if (ms !== undefined) return ms;
  throw runFailure(
    "InvalidRequest",
    `${JSON.stringify(value)} is no duration, such as "7 days" or a number of milliseconds, of a hundred years at most.`,
  );
};
