/** Reads from a history what a preview continues from: the results that a retry keeps, and the objects of the service. */
import { resetPoint } from "@durable-payments/activities";
import { isRecord } from "@durable-payments/client/values";
import type { History } from "@durable-payments/replay";
import type { Client } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import type { temporal } from "@temporalio/proto";
import { type Failure, failureOf, firstOf } from "../../facts/history.ts";
import type { RetryPlan } from "../../rules/retry-plan.ts";

/** Returns the part of a history that a retry keeps, and so replays; undefined if it starts the id again. */
export const keptOf = async (
  client: Client,
  { events }: History,
  { from, way }: Pick<RetryPlan, "from" | "way">,
  failure: Failure | null,
): Promise<History | undefined> => {
  if (way === "start") return undefined;
  const all = events ?? [];
  const point = way === "reset" ? await resetPoint(client, all, failure, from) : undefined;
  if (way === "reset" && point === undefined) return undefined;
  return {
    events: all.filter(({ eventId }) => point === undefined || Number(eventId) < Number(point)),
  };
};

/** Results of activities by their ids: a reset keeps them, also those of a user's own activities. */
export type Recorded = ReadonlyMap<string, () => unknown>;

/** Returns the results that a history has, and the failures, which its code has caught. */
export const recordedIn = ({ events }: History): Recorded => {
  const ids = new Map<string, string>();
  const recorded = new Map<string, () => unknown>();
  for (const event of events ?? []) {
    const { activityTaskCompletedEventAttributes: done, activityTaskScheduledEventAttributes } =
      event;
    const failed = event.activityTaskFailedEventAttributes;
    if (activityTaskScheduledEventAttributes)
      ids.set(String(event.eventId), activityTaskScheduledEventAttributes.activityId ?? "");
    const id = ids.get(String((done ?? failed)?.scheduledEventId)) ?? "";
    if (done) recorded.set(id, () => firstOf(done.result));
    const failure = failureOf(failed?.failure);
    if (failure)
      recorded.set(id, () => {
        const { details, message, type } = failure;
        const given = details === undefined ? {} : { details: [details] };
        throw ApplicationFailure.create({ type, message, nonRetryable: true, ...given });
      });
  }
  return recorded;
};

/** Returns the JSON objects in a value, outermost first. */
export const objectsIn = (value: unknown): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return isRecord(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : [];
};

const isPayload = (value: unknown): value is temporal.api.common.v1.IPayload =>
  isRecord(value) && value["data"] instanceof Uint8Array && isRecord(value["metadata"]);

const payloadsIn = (value: unknown): ReadonlyArray<temporal.api.common.v1.IPayload> => {
  if (isPayload(value)) return [value];
  if (Array.isArray(value)) return value.flatMap(payloadsIn);
  return isRecord(value) ? Object.values(value).flatMap(payloadsIn) : [];
};

/** Returns the JSON objects in the payloads of a history, oldest first: they name what the service has. */
export const objectsOf = ({ events }: History): ReturnType<typeof objectsIn> =>
  payloadsIn(events).flatMap((payload) => objectsIn(firstOf({ payloads: [payload] })));

/** A signal of a history, as its receiver gets it again. */
export type Signal = temporal.api.history.v1.IWorkflowExecutionSignaledEventAttributes;

/** Returns the signals that a run has received: a reset gives them again. */
export const signalsIn = ({ events }: History): ReadonlyArray<Signal> =>
  (events ?? []).flatMap((event) => event.workflowExecutionSignaledEventAttributes ?? []);
