import { isRecord } from "@durable-payments/api-core/values";
import { isStepOf, STEP, textAt } from "@durable-payments/protocol";
import type { History } from "@temporalio/common/lib/proto-utils.js";
import { decoded, type Event, timeOf } from "../history/events.ts";
import type { TimelineStep } from "./timeline.ts";

/** The local activity that reads whom a payment pays, for who has to approve it. */
const DESCRIBE_PAYEE = "describePayee";

/** What an approver was shown of a payee, where an event has that. */
const shownBy = (event: Event): string | undefined => {
  const { data, result } = event.markerRecordedEventAttributes?.details ?? {};
  const about = decoded(data?.payloads?.[0]);
  if (!isRecord(about) || about["activity_type"] !== DESCRIBE_PAYEE) return undefined;
  const payee = decoded(result?.payloads?.[0]);
  const fields = ["account_holder", "bank_country", "account"].map((name) => textAt(payee, name));
  return `pays ${fields.map((field) => field ?? "unknown").join(", ")}; paid before: ${textAt(payee, "paid_before") ?? "unknown"}`;
};

/** Note beside each approval whom it pays, as the approver was shown it. */
export const withPayees = (
  steps: ReadonlyArray<TimelineStep>,
  { events }: History,
): ReadonlyArray<TimelineStep> => {
  const shown = (events ?? []).flatMap((event) => {
    const note = shownBy(event);
    return note === undefined ? [] : [{ note, at: timeOf(event) }];
  });
  return steps.map((step) => {
    if (!isStepOf(STEP.awaitApproval, step.name)) return step;
    const last = shown.findLast(
      ({ at }) => at >= step.since && (step.until === null || at <= step.until),
    );
    return last === undefined ? step : { ...step, note: last.note };
  });
};
