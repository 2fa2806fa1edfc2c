import { isRecord } from "@durable-payments/api-core/values";
import type { OperationName } from "@durable-payments/api-core";
import type { RecordedSend, Send, SendOutcome } from "@durable-payments/journal";
import type { OwnSend } from "@durable-payments/protocol";

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
  /**
   * Whether the run finds out by itself what runs before it have sent: it was reset, say, or continues another one.
   * Others are not sent before the histories of the earlier runs of its workflow id have been read. Default: no.
   */
  readonly knowsEarlierRuns?: boolean;
  /** Amounts above this need the approval of a second person, as the run was started. */
  readonly approveAbove?: string;
  /** Who has approved this very request, as a second person: without a proof it counts for nothing. */
  readonly approvedBy?: string;
  /** Fields that were not known yet when it was approved. */
  readonly approvedLater?: ReadonlyArray<string>;
  /** Mark of the details of whom it pays, as they were approved: others are not paid. */
  readonly approvedPayee?: string;
  /**
   * What was approved with it to be made first, and to be named by it: whom it pays. It is sent for nothing else
   * that was made.
   */
  readonly approvedFor?: { readonly operation: OperationName | OwnSend; readonly input: unknown };
  /** Proof that it was approved: by a person in this run, or with its batch. */
  readonly approval?: string;
}

const UNNAMED = "activity ";

/** Name the step of a send whose workflow names none: one for each activity. */
export const unnamedStep = (activityId: string): string => `${UNNAMED}${activityId}`;

/** Check whether a step is that of an activity whose workflow names none. */
export const isUnnamedStep = (step: string): boolean => step.startsWith(UNNAMED);

/** Type of the failure of a send that the journal does not permit: nothing was sent by it. */
export const ALREADY_SENT = "AlreadySent";

/** What the journal has of one send of a write. */
export interface JournalSend {
  /** Which send of the write, from 1 on. */
  readonly number: number;
  /** The run that sent it. */
  readonly runId: string;
  /** What became of it. */
  readonly outcome: SendOutcome;
  /** Ids that its answer gave: payout_id, card_id, … */
  readonly ids: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly begunAt: number;
  /** The `unique_request_id` that it carried, where it carried one. */
  readonly key?: string;
  /** Decimal string, where it moves money. */
  readonly amount?: string;
  /** Three-letter code (ISO 4217). */
  readonly currency?: string;
}

/** What the journal has of the latest send of a write. Detail of a failure of type AlreadySent. */
export interface SentAlready extends JournalSend {
  /** Whether it carried the request that was to be sent now, its key aside. */
  readonly isSamePayload: boolean;
  /**
   * The latest send before it that carried another request than the one that was to be sent now, of
   * which nobody knows what became, and that the run which asks does not know of.
   */
  readonly otherInDoubt?: JournalSend;
  /**
   * Whether the journal has every send up to this one, and each as not carried out: nothing of the write is
   * in doubt. Left out where it is not so, and by journals' answers of before.
   */
  readonly isNoneCarriedOut?: true;
}

/** Check whether a detail of a failure of type AlreadySent is what the journal has. */
export const isSentAlready = (detail: unknown): detail is SentAlready =>
  isRecord(detail) && "outcome" in detail && "number" in detail;

const journalSend = ({
  amount,
  begunAt,
  currency,
  ids,
  key,
  number,
  outcome,
  runId,
}: RecordedSend): JournalSend => ({
  number,
  runId,
  outcome,
  ids,
  begunAt,
  ...(key !== undefined && { key }),
  ...(amount !== undefined && { amount }),
  ...(currency !== undefined && { currency }),
});

/** Whether every send up to this one is recorded, and as not carried out. A missing one may have been. */
const isNoneCarriedOut = (latest: RecordedSend, recorded: ReadonlyArray<RecordedSend>): boolean => {
  const numbers = new Set(recorded.map(({ number }) => number));
  return (
    recorded.every(({ outcome }) => outcome === "notCarriedOut") &&
    Array.from({ length: latest.number }, (_, index) => index + 1).every((number) =>
      numbers.has(number),
    )
  );
};

/** Name the steps of which every send is recorded, and each as not carried out. */
export const stepsNotCarriedOut = (recorded: ReadonlyArray<RecordedSend>): ReadonlyArray<string> =>
  [...Map.groupBy(recorded, ({ step }) => step)].flatMap(([step, sends]) => {
    const latest = sends.at(-1);
    return latest !== undefined && isNoneCarriedOut(latest, sends) ? [step] : [];
  });

/**
 * Describe what the journal has of a write for the run that was not allowed to send.
 *
 * @param latest the send that forbids it.
 * @param recorded all sends of the write.
 */
export const sentAlready = (
  { knownTo, number, payloadHash }: Pick<Send, "knownTo" | "number" | "payloadHash">,
  latest: RecordedSend,
  recorded: ReadonlyArray<RecordedSend>,
): SentAlready => {
  const other = recorded.findLast(
    (send) =>
      send.number < latest.number &&
      send.number > (knownTo ?? number - 1) &&
      (send.outcome === "begun" || send.outcome === "unknown") &&
      send.payloadHash !== payloadHash,
  );
  return {
    ...journalSend(latest),
    isSamePayload: latest.payloadHash === payloadHash,
    ...(other !== undefined && { otherInDoubt: journalSend(other) }),
    ...(isNoneCarriedOut(latest, recorded) && { isNoneCarriedOut: true }),
  };
};

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
