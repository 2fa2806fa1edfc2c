import { Context, Metric } from "effect";

/** That of the process. */
const REGISTRY = Context.empty();

const journalConflicts = Metric.counter("payments_journal_conflicts_total", {
  description: "Sends that the journal did not permit, as the write was sent before",
  incremental: true,
});
// So that the first one is seen as an increase.
journalConflicts.updateUnsafe(0, REGISTRY);

/** Count a send that the journal did not permit. */
export const countJournalConflict = (): void => journalConflicts.updateUnsafe(1, REGISTRY);

/**
 * Note when the tracker of an account had read all that was due.
 *
 * @param at milliseconds since 1970.
 * @param account its name, where it has one.
 */
export const noteTrackerRead = (at: number, account: string | undefined): void => {
  Metric.gauge("payments_tracker_read_timestamp_seconds", {
    description: "When the tracker that this worker ran last had read all that was due",
    attributes: account === undefined ? {} : { account },
  }).updateUnsafe(at / 1000, REGISTRY);
};
