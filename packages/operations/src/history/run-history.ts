import type { ForgottenSend } from "@durable-payments/activities";
import type { temporal } from "@temporalio/proto";
import type { EndingDecisionInFailure } from "./ending-decisions.ts";
import type { EventId } from "./events.ts";

/** What is known of an activity that sent something, or searched for something. */
export interface PastActivity {
  readonly type: string;
  readonly input: unknown;
  /** When it was scheduled: milliseconds since 1970. */
  readonly at: number;
  readonly isDone: boolean;
  readonly result: unknown;
  /** Type of the failure it ended with, and its first detail. */
  readonly failure: string;
  readonly failureDetail: unknown;
}

/** An activity of a run, as its history has it. Times are ISO 8601. */
export interface HistoryActivity extends PastActivity {
  readonly kind: "activity";
  /** What it is for, as the workflow describes it. */
  readonly summary: string | undefined;
  readonly since: string;
  readonly until: string | undefined;
  readonly outcome: "pending" | "done" | "failed" | "timedOut" | "cancelled";
  /** How often it was tried, or has polled; 0 where no attempt has ended. */
  readonly attempts: number;
  /** What it failed with, or what its last attempt but one did. */
  readonly lastFailure: temporal.api.failure.v1.IFailure | undefined;
}

/** What happened in a step, in order. Times are ISO 8601. */
export type HistoryEvent =
  | HistoryActivity
  | {
      readonly kind: "timer";
      readonly summary: string | undefined;
      readonly since: string;
      readonly until: string | undefined;
    }
  /** It began to wait for a person. */
  | { readonly kind: "humanTask"; readonly since: string }
  /** Something was to be undone, and could not be: `cancel the card`. */
  | { readonly kind: "undoFailed"; readonly what: string; readonly at: string }
  | { readonly kind: "signal"; readonly name: string; readonly at: string }
  | {
      readonly kind: "update";
      readonly name: string;
      readonly at: string;
      readonly content: unknown;
      /** It was given to an earlier run, and again to the one that a reset made of it. */
      readonly isGivenAgain: boolean;
    };

/** What a person decided for a step that asked. */
export type StepDecision = Readonly<Record<string, unknown>>;

/** A step of a run, as far as it matters for what was sent. */
export interface PastStep {
  readonly name: string;
  /** The workflow task in which it began: a reset to it does the step again, and nothing before. */
  readonly task: number;
  /** The event that ended the workflow task to reset to: that one, or one before (`resetPoint`). */
  readonly taskEnd: EventId;
  readonly activities: ReadonlyArray<PastActivity>;
  /** What people decided for it, oldest first. */
  readonly decisions: ReadonlyArray<StepDecision>;
  /** Whether the run ended at it, as its child workflow had failed: a reset after that would find the failure again. */
  readonly endedByChild?: true;
}

/** A step of a run, as its history has it. */
export interface HistoryStep extends PastStep {
  readonly since: string;
  /** When another step began after it; undefined where none has. */
  readonly until: string | undefined;
  /** Whether it is the one that the run is at, or ended at. */
  readonly isCurrent: boolean;
  readonly activities: ReadonlyArray<HistoryActivity>;
  readonly events: ReadonlyArray<HistoryEvent>;
}

/** What changed the input of a run: the answer to what it asked about its reset, or a person. */
export type InputChange =
  | { readonly by: "reset"; readonly answer: unknown }
  | { readonly by: "decision"; readonly step: string; readonly decision: StepDecision };

/** What a run has sent, by its history. */
export interface ReadRun {
  readonly startedWith: unknown;
  readonly steps: ReadonlyArray<PastStep>;
  /** Its PaymentIds at last. */
  readonly ids: ReadonlySet<string>;
  /** Where it was made by a reset: the run that was reset, and the reason. */
  readonly reset:
    | {
        readonly runId: string;
        readonly reason: string;
        /** The workflow task that the reset left failed: all that the run did itself is after it. */
        readonly task: EventId;
      }
    | undefined;
  /** Oldest first. */
  readonly changes: ReadonlyArray<InputChange>;
  /** What it had sent, as the journal had it at its end, before its history was put back. */
  readonly forgotten: ReadonlyArray<ForgottenSend>;
  /** Its PaymentInDoubt at last: the steps that have sent, and whose outcome is not known. */
  readonly namedInDoubt: string;
  /** The account that it was pinned to, as a hash. */
  readonly account: string | undefined;
  /** The decision of a person by which it ended. */
  readonly endedBy: EndingDecisionInFailure | undefined;
  /** Who asked it to end, whatever it ended with, and the event by which it was signalled. */
  readonly cancelAsked: { readonly by: string; readonly event: number } | undefined;
}

/** A run's history, read: by retries, timelines and reports alike. */
export interface ReadHistory extends ReadRun {
  readonly steps: ReadonlyArray<HistoryStep>;
  /** All its activities, those before its first step included, in order. */
  readonly activities: ReadonlyArray<HistoryActivity>;
  /** When it was reset, ISO 8601; undefined for a run that no reset made. */
  readonly resetAt: string | undefined;
}
