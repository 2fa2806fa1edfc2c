import type { RecordedSend, SendOutcome } from "@durable-payments/journal";

/** Says which send of which write an activity is to make. Second argument of activities that send. */
export interface SendIntent {
  /** Name of the step that makes the write. */
  readonly step: string;
  /** 1 for the first send of the step, one more for each further one, in all runs of the workflow id. */
  readonly number: number;
  /**
   * Highest number of the sends that may have reached the service, and of which the run has found out
   * what became: one after it that the journal knows forbids this send. A history that was put back to an
   * earlier state counts numbers anew. Default: all before this one.
   */
  readonly knownTo?: number;
  /** Whether what earlier sends of the step made has been undone since, so that it may be made anew. */
  readonly isUndone?: boolean;
  /**
   * Whether an earlier send of the very request may have reached the service, so that a refusal may
   * be of a repeat; default: where its number is above 1.
   */
  readonly isResend?: boolean;
  /**
   * Whether it is sent, after a wait, even where its run was asked to be cancelled meanwhile: by what is
   * shielded from a cancellation, such as what undoes. Default: no.
   */
  readonly evenIfCancelled?: boolean;
}

const UNNAMED = "activity ";

/** The step of a send whose workflow names none: one for each activity. */
export const unnamedStep = (activityId: string): string => `${UNNAMED}${activityId}`;

/** Whether a step is that of an activity whose workflow names none. */
export const isUnnamedStep = (step: string): boolean => step.startsWith(UNNAMED);

/** Type of the failure of a send that the journal does not permit: nothing was sent by it. */
export const ALREADY_SENT = "AlreadySent";

/** What the journal has of the latest send of a write. Detail of a failure of type AlreadySent. */
export interface SentAlready {
  readonly number: number;
  /** The run that sent it. */
  readonly runId: string;
  readonly outcome: SendOutcome;
  /** Ids that its answer gave: payout_id, card_id, … */
  readonly ids: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly begunAt: number;
  /** The `unique_request_id` that it carried, where it carried one. */
  readonly key?: string;
  /** Whether it carried the request that was to be sent now, its key aside. */
  readonly isSamePayload: boolean;
}

/**
 * Describes a recorded send for the run that was not allowed to send.
 *
 * @param payloadHash of the request that was to be sent.
 */
export const sentAlready = (
  { begunAt, ids, key, number, outcome, payloadHash: recordedHash, runId }: RecordedSend,
  payloadHash: string,
): SentAlready => ({
  number,
  runId,
  outcome,
  ids,
  begunAt,
  ...(key !== undefined && { key }),
  isSamePayload: recordedHash === payloadHash,
});

/**
 * Longest time between the start of an activity's attempt and the dispatch of a write in it, in
 * milliseconds by the worker's monotonic clock: later than that it is certainly not sent any more.
 */
export const DISPATCH_WITHIN_MS = 60_000;

/**
 * Longest time after the end of a run in which what it was sending may still be sent by a worker that
 * does not know of the end, or be under way to the service, in milliseconds: the time to dispatch it,
 * and one request of the default `PAYMENTS_REQUEST_TIMEOUT_MS`.
 */
export const MAY_BE_SENT_AFTER_END_MS = DISPATCH_WITHIN_MS + 30_000;
