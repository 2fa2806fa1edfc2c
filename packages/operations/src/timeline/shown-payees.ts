import { isRecord } from "@durable-payments/api-core/values";
import { isStepOf, STEP, textAt } from "@durable-payments/protocol";
import type { History } from "@temporalio/common/lib/proto-utils.js";
import { decoded, type Event, timeOf } from "../history/events.ts";
import type { TimelineStep } from "./timeline.ts";

/** The local activity that reads whom a payment pays, for who has to approve it. */
const DESCRIBE_PAYEE = "describePayee";

/** Runs of before have one number, as `account`. */
const FIELDS = [
  "account_holder",
  "bank_country",
  "bank_name",
  "swift_code",
  "clearing_system",
  "routing_code",
  "iban",
  "account_number",
  "account",
];

/** Which of two numbers it is, the number alone does not say. */
const NAMED = new Set(["iban", "account_number"]);

/** What an approver was shown of a payee, where an event has that. */
const shownBy = (event: Event): string | undefined => {
  const { data, result } = event.markerRecordedEventAttributes?.details ?? {};
  const about = decoded(data?.payloads?.[0]);
  if (!isRecord(about) || about["activity_type"] !== DESCRIBE_PAYEE) return undefined;
  const payee = decoded(result?.payloads?.[0]);
  const fields = FIELDS.flatMap((name) => {
    const text = textAt(payee, name);
    if (text === undefined) return [];
    return NAMED.has(name) ? [`${name} ${text}`] : [text];
  });
  return `pays ${fields.join(", ")}; paid before: ${textAt(payee, "paid_before") ?? "unknown"}`;
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
