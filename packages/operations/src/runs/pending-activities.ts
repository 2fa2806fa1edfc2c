import type { WorkflowExecutionDescription } from "@temporalio/client";
import { withoutActivityNames } from "../history/lacking-activity.ts";

/** An activity that a run is waiting for. */
export interface PendingActivity {
  readonly activity: string;
  readonly attempt: number;
  /** What the last attempt ended with: that it is not yet so, or what went wrong. */
  readonly message?: string;
  /** When it is tried again, ISO 8601. */
  readonly nextAttemptAt?: string;
}

type Timestamp = { readonly seconds?: unknown } | null | undefined;

const isoTime = (timestamp: Timestamp): string | undefined => {
  const seconds = Number(timestamp?.seconds ?? 0);
  return seconds > 0 ? new Date(seconds * 1000).toISOString() : undefined;
};

/** The activities that a described run is waiting for. */
export const pendingActivities = ({
  raw,
}: WorkflowExecutionDescription): ReadonlyArray<PendingActivity> =>
  (raw.pendingActivities ?? []).map(
    ({ activityType, attempt, lastFailure, nextAttemptScheduleTime }) => {
      const message = withoutActivityNames(lastFailure?.message ?? "");
      const nextAttemptAt = isoTime(nextAttemptScheduleTime);
      return {
        activity: activityType?.name ?? "",
        attempt: attempt ?? 1,
        ...(message !== "" && { message }),
        ...(nextAttemptAt !== undefined && { nextAttemptAt }),
      };
    },
  );
