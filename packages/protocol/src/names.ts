import { isRecord } from "@durable-payments/client/values";
import type { Payload } from "@temporalio/common";

/*
 * The task queues of a worker. The base queue has the tasks of workflows and of activities. Batches have a queue of their
 * own, so that nothing else waits behind their tasks. A named account has queues for its activities, of which one is for
 * those of batches: `payments@eu` and `payments/batch@eu`, by `accountQueue` of `calls.ts`.
 */
const BATCH = "/batch";

/** Format of an account's name, which is a part of task queues and workflow ids. */
export const ACCOUNT_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** The same, for messages. */
export const ACCOUNT_NAME_RULE =
  "1 to 40 lower-case letters, digits and dashes, beginning with a letter or digit";

/** Returns the base queue of a setting; the default if it is empty or not set. */
export const taskQueueOf = (setting: string | undefined): string => setting || "payments";

/** Returns the base queue that a queue is named after, or is. */
export const baseQueue = (taskQueue: string): string =>
  taskQueue.replace(/(?:\/batch)?(?:@[a-z0-9][a-z0-9-]*)?$/, "");

/** Returns the queue on which the runs of a batch are started. */
export const batchQueue = (taskQueue: string): string => `${baseQueue(taskQueue)}${BATCH}`;

/** The header in which Temporal's OpenTelemetry interceptors pass the trace of a run. */
export const TRACE_HEADER = "_tracer-data";

/** W3C's `traceparent`: version, trace, span, flags. */
const TRACEPARENT = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/** Reads W3C's `traceparent` in the headers of an activity; undefined if it is missing or invalid. */
export const traceparentIn = ({
  [TRACE_HEADER]: header,
}: Readonly<Record<string, Payload>>): string | undefined => {
  try {
    const carrier: unknown = JSON.parse(new TextDecoder().decode(header?.data ?? undefined));
    const traceparent = isRecord(carrier) ? carrier["traceparent"] : undefined;
    return typeof traceparent === "string" && TRACEPARENT.test(traceparent)
      ? traceparent
      : undefined;
  } catch {
    // The header of another interceptor.
    return undefined;
  }
};
