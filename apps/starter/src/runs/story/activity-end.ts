import { defaultFailureConverter, defaultPayloadConverter } from "@temporalio/common";
import type { temporal } from "@temporalio/proto";
import { type Failure, readFailure } from "../failure.ts";
import type { Event } from "../history-steps.ts";
import { masked } from "./masked.ts";
import type { StoryActivity } from "./story.ts";

type ProtoFailure = temporal.api.failure.v1.IFailure;

/** A failure that a history holds, without what must not be shown. */
export const failureOf = (failure: ProtoFailure | null | undefined): Failure | null =>
  failure
    ? masked(readFailure(defaultFailureConverter.failureToError(failure, defaultPayloadConverter)))
    : null;

/** How an activity ended. */
export interface ActivityEnd {
  readonly scheduledBy: string;
  readonly outcome: Exclude<StoryActivity["outcome"], "pending">;
  readonly failure: Failure | null;
}

/** The end of an activity; undefined where the event is no such end. */
export const activityEndOf = (event: Event): ActivityEnd | undefined => {
  const {
    activityTaskCanceledEventAttributes: cancelled,
    activityTaskCompletedEventAttributes: done,
    activityTaskFailedEventAttributes: failed,
    activityTaskTimedOutEventAttributes: timedOut,
  } = event;
  const ended = done ?? failed ?? timedOut ?? cancelled;
  if (!ended) return undefined;
  const outcome = done ? "done" : failed ? "failed" : timedOut ? "timedOut" : "cancelled";
  const failure = failureOf(failed?.failure ?? timedOut?.failure);
  return { scheduledBy: String(ended.scheduledEventId), outcome, failure };
};
