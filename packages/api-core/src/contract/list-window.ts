/*
 * A list of the service, read in a window of time: the cost of a reading follows what happened in the window, and not
 * what the account has ever paid.
 *
 * The document gives `date_type` and the bounds of a range, but neither their unit nor whether a bound belongs to the
 * range. A bound that is cut to seconds, or excluded, must not hide a row at the edge. So bounds are whole seconds, one
 * outside of the window: then both units say the same, and rows outside of the window by up to two seconds may appear.
 */
import type { ListPayoutsInput } from "./payouts.ts";

/** A window of time, in milliseconds since 1970 by the service's clock. */
export interface ListWindow {
  readonly from: number;
  /** Left out: without an end. */
  readonly to?: number;
}

/** How far outside of a window a listed row may be, in milliseconds. */
export const WINDOW_EDGE_MS = 2_000;

const SECOND_MS = 1_000;

/**
 * Returns the part of the query of `listPayouts` that reads a window of time. Whether the service honours it is an
 * assumption (`listWindow`), which a reader has to check.
 *
 * @param date_type the time of a payout that the window is about.
 */
export const inWindow = (
  date_type: NonNullable<ListPayoutsInput["date_type"]>,
  { from, to }: ListWindow,
): Pick<ListPayoutsInput, "date_type" | "end" | "start"> => ({
  date_type,
  start: Math.max(0, Math.floor(from / SECOND_MS) - 1) * SECOND_MS,
  ...(to !== undefined && { end: (Math.ceil(to / SECOND_MS) + 1) * SECOND_MS }),
});
