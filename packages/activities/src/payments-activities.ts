import { type Journal, makeMemoryJournal } from "@durable-payments/journal";
import { type BatchActivities, makeBatchActivities } from "./batch-activities.ts";
import { type Brake, makeTemporalBrake } from "./brake.ts";
import { type CheckActivities, makeCheckActivities } from "./check-activities.ts";
import { type JournalActivities, makeJournalActivities } from "./journal-activities.ts";
import type { MaxAmounts } from "./limits.ts";
import { type LookupActivities, makeLookupActivities } from "./lookup-activities.ts";
import { makeOperationActivities, type OperationActivities } from "./operation-activities.ts";
import { makeRetryActivities, type RetryActivities } from "./retry-activities.ts";
import { pinnedTo } from "./pinned.ts";
import { accountOf, type PaymentsRuntime } from "./run-operation.ts";
import { type AskRunState, askTemporalRunState } from "./run-state.ts";
import {
  makeTrackerActivities,
  type TrackerActivities,
  type TrackerOptions,
} from "./tracker-activity.ts";
import { makeWaitingActivities, type WaitingActivities } from "./waiting-activities.ts";

/** Every activity of a worker, by activity type. */
export type PaymentsActivities = OperationActivities &
  WaitingActivities &
  LookupActivities &
  CheckActivities &
  RetryActivities &
  JournalActivities &
  BatchActivities &
  TrackerActivities;

/** What the activities take beside the client. */
export interface ActivitiesOptions {
  /** Tells whether sends are paused; default: while the task queue's brake workflow runs. */
  readonly brake?: Brake;
  /** Tells whether the run of an activity is still open; default: as the Temporal server says. */
  readonly runState?: AskRunState;
  /** Remembers what was sent; default: one that is lost with the process. */
  readonly journal?: Journal;
  /** The largest amount of one payout or card, by currency; default: none. */
  readonly maxAmounts?: MaxAmounts;
  readonly tracker?: TrackerOptions;
}

/**
 * The activities of a worker. Make one runtime per worker (`ManagedRuntime.make(PaymentsClient.layer(…))`)
 * and dispose of it when the worker has drained.
 */
export const makePaymentsActivities = (
  runtime: PaymentsRuntime,
  {
    brake = makeTemporalBrake(),
    runState = askTemporalRunState,
    journal = makeMemoryJournal(),
    maxAmounts = {},
    tracker = {},
  }: ActivitiesOptions = {},
): PaymentsActivities =>
  pinnedTo(() => accountOf(runtime), {
    ...makeOperationActivities(runtime, { brake, runState, journal, maxAmounts }),
    ...makeWaitingActivities(runtime, brake, journal),
    ...makeLookupActivities(runtime, journal),
    ...makeCheckActivities(runtime, maxAmounts),
    ...makeTrackerActivities(runtime, tracker),
    ...makeRetryActivities(),
    ...makeJournalActivities(journal),
    ...makeBatchActivities(() => accountOf(runtime)),
  });
