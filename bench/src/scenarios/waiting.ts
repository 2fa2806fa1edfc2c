import { type Row, rowOf } from "../row.ts";
import type { Scenario } from "../scenario.ts";
import { measureWaiting, type WaitingReading } from "../waiting/measure.ts";

/** A page of the list of payouts. */
const PAGE = 50;
const MOST_EVENTS = 20;
const HOLD_SECONDS = 30;

const rowsOf = (payouts: number, ours: WaitingReading, baseline: WaitingReading): Array<Row> => {
  const name = (what: string) => `waiting: ${payouts} payouts, ${what}`;
  const row = (what: string, unit: string, value: number, other: number, atMost?: number) =>
    rowOf({
      name: name(what),
      unit,
      ours: [value],
      baseline: [other],
      ...(atMost !== undefined && { target: { atMost } }),
    });
  const perPayout = (seconds: number) => (seconds * 1000) / payouts;
  return [
    row(
      "CPU of the Temporal server, against not waiting",
      "ms a payout",
      perPayout(ours.serverCpu),
      perPayout(baseline.serverCpu),
      1.5,
    ),
    row(
      "CPU of the worker, against not waiting",
      "ms a payout",
      perPayout(ours.workerCpu),
      perPayout(baseline.workerCpu),
    ),
    row(
      "the longest sweep, against what is allowed",
      "requests",
      ours.mostRequests,
      Math.ceil(payouts / PAGE) + 2,
      1,
    ),
    row("all sweeps, against one look a payout", "requests", ours.listRequests, payouts),
    row("a history, against what is allowed", "events", ours.events, MOST_EVENTS, 1),
    row("waiting, against one look a payout", "activity tasks", ours.waitingTasks, payouts),
    row("the last run is signalled, against a minute", "s", ours.signalledAfter, 60),
  ];
};

/** Payouts that all wait at once, against the same payouts that do not wait. */
export const scenario: Scenario = async (context) => {
  const rows: Array<Row> = [];
  for (const payouts of context.quick ? [500] : [500, 2_000, 10_000]) {
    context.signal.throwIfAborted();
    const task = { payouts, holdSeconds: HOLD_SECONDS };
    const baseline = await measureWaiting({ ...task, waits: false }, context);
    const ours = await measureWaiting({ ...task, waits: true }, context);
    context.progress(JSON.stringify({ payouts, ours, baseline }));
    rows.push(...rowsOf(payouts, ours, baseline));
  }
  return rows;
};
