import type { PollSchedule } from "@durable-payments/activities";
import type { Duration, PollInterval } from "@durable-payments/protocol";
import {
  endOf,
  endsBy,
  FALLBACK_POLLING,
  orLastReading,
  pollingActivities,
  pollSchedule,
} from "../run/polling.ts";
import { type Run, stateOf } from "../run/run.ts";

/** How long a step waits for a completion that the tracker signals, and how often it polls by itself. */
export interface AwaitCompletionOptions {
  /** Longest time to wait. */
  readonly within?: Duration;
  /** Time between two fallback polls, default an hour to six: the tracker signals it before. */
  readonly pollInterval?: PollInterval;
}

/** Something that the tracker signals, and how the service is asked about it. */
interface Completion<Seen> {
  /** The step that waits, and for what, for a person. */
  readonly step: string;
  readonly note: string;
  /** As the tracker is shown it: `payout:<payout_id>` or `cardholder:<card_holder_id>`. */
  readonly awaited: string;
  /** Whether what a signal carries is about it. It can carry anything. */
  readonly isAbout: (content: unknown) => boolean;
  /** One reading in a local activity, which costs no round trip to the server. */
  readonly readLocally: () => Promise<Seen>;
  /** One reading. */
  readonly read: (options: object) => Promise<Seen>;
  /** Polls until it has ended, or to the end of the schedule. */
  readonly poll: (
    activities: ReturnType<typeof pollingActivities>,
    options: object,
    schedule: PollSchedule,
  ) => Promise<Seen>;
}

/**
 * Wait until something has ended: until the tracker signals it and a reading confirms it, or the run sees
 * it by itself. A last reading is taken at the end of the wait.
 *
 * @returns what was seen last: `open` where it has not ended within the time.
 */
export const awaitCompletion = <Seen extends { readonly outcome: string }>(
  run: Run,
  { awaited, isAbout, note, poll, read, readLocally, step }: Completion<Seen>,
  { pollInterval, within }: AwaitCompletionOptions & { readonly within: Duration },
): Promise<Seen> => {
  const until = endOf(within);
  run.waiting(step, note, until);
  return stateOf(run).signalOrPoll<Seen>(awaited, {
    isAbout,
    confirm: async () => {
      const seen = await readLocally().catch(() => read(endsBy(until)));
      return seen.outcome === "open" ? undefined : seen;
    },
    poll: () =>
      orLastReading(
        until,
        poll(
          pollingActivities(pollInterval),
          endsBy(until),
          pollSchedule(pollInterval, FALLBACK_POLLING, until),
        ),
        () => read({}),
      ),
  });
};
