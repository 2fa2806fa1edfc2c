import type { BatchReport } from "../batch/report.ts";
import type { CancelRequest } from "../history/cancel-request.ts";
import type { NamedId } from "@durable-payments/protocol";
import type { DoubtedStep } from "../history/doubted-step.ts";
import type { Failure } from "../history/failure.ts";
import type { SettledDoubt } from "../history/in-doubt.ts";
import type { ListFinding } from "../history/sends.ts";
import type { NextRetry } from "../retry/way.ts";
import type { NextOperation } from "../errors.ts";
import type { StateName, StepState } from "../runs/state-name.ts";

/** An activity of a step. Times are ISO 8601. */
export interface TimelineActivity {
  readonly kind: "activity";
  readonly activity: string;
  /** What it is for, as the workflow describes it. */
  readonly summary: string | null;
  readonly since: string;
  readonly until: string | null;
  readonly tookMs: number | null;
  /**
   * `noAnswer`: the run ended before it had one. `endedBySignal`: it polled for what a signal announced first.
   */
  readonly outcome:
    | "done"
    | "failed"
    | "timedOut"
    | "cancelled"
    | "noAnswer"
    | "endedBySignal"
    | "pending";
  /** What it found of what was sent, where it has read the service's list. */
  readonly found?: ListFinding;
  /** How often it was tried, or has polled. */
  readonly attempts: number;
  /** What it failed with, or what its last attempt but one did. */
  readonly failure: Failure | null;
  /** When a pending one is tried again. */
  readonly nextAttemptAt: string | null;
}

/** A timer of the workflow. */
export interface TimelineTimer {
  readonly kind: "timer";
  readonly summary: string | null;
  readonly since: string;
  readonly until: string | null;
  readonly tookMs: number | null;
}

/** A step began to wait for a person. */
export interface TimelineHumanTask {
  readonly kind: "question";
  readonly since: string;
}

/** Something that the run was to undo after its failure, and could not. */
export interface TimelineUndoFailed {
  readonly kind: "leftOver";
  /** What is left to do, as the workflow describes it: `cancel the card`. */
  readonly what: string;
  readonly at: string;
}

/** A message to the run: the decision of a person (update), or a signal. */
export interface TimelineMessage {
  readonly kind: "update" | "signal";
  readonly name: string;
  readonly at: string;
  /** Who decided, where it was a person. */
  readonly by: string | null;
  /** What was decided; the values of an amendment are left out. */
  readonly what: string | null;
}

/** Something that happened in a step. */
export type TimelineEvent =
  | TimelineActivity
  | TimelineTimer
  | TimelineHumanTask
  | TimelineUndoFailed
  | TimelineMessage;

/** One step of a run. */
export interface TimelineStep {
  readonly name: string;
  readonly state: StepState;
  readonly since: string;
  readonly until: string | null;
  readonly tookMs: number | null;
  /** What it does where it has sent something and has no answer; of an approval, whom it pays. */
  readonly note?: string;
  readonly events: ReadonlyArray<TimelineEvent>;
}

/** A run that was reset goes on as another run, which keeps the history up to the reset. */
export interface Reset {
  readonly runId: string;
  /** When this run began where the other one was left. */
  readonly at: string;
  readonly reason: string;
}

/** What can be done about a run, and why. */
export type NextStep = NextOperation & { readonly why: string };

/** What happened in one run, from its history. */
export interface Timeline {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  /** What the run is to do, as whoever started it said it; amended, where its input was. */
  readonly summary: string | null;
  readonly state: StateName | "continuedAsNew";
  /** When `startedBy` started it; a retry begins later, at `startedAt`. */
  readonly firstStartedAt: string;
  readonly startedAt: string;
  readonly startedBy: string | null;
  /** Who asked it to end, and why; of a run that goes on. */
  readonly askedToEnd: CancelRequest | null;
  /** Whether it undoes what it has done when it is asked to end. */
  readonly undoes: boolean;
  readonly closedAt: string | null;
  readonly currency: string | null;
  readonly paymentIds: ReadonlyArray<string>;
  /** The same, with what each is called: `payout_id`, `key`; `id` where that is not known. */
  readonly namedIds: ReadonlyArray<NamedId>;
  /** The run that this one was reset from. */
  readonly resetFrom: Reset | null;
  /** Run id of a later run of the same workflow id, which has how it went on. */
  readonly laterRun: string | null;
  readonly steps: ReadonlyArray<TimelineStep>;
  /** How the payouts of a batch stand by now, retried and amended ones too; null for any other run. */
  readonly batch: BatchReport | null;
  readonly result: unknown;
  readonly failure: Failure | null;
  /** Steps of an ended run of which nobody knows whether they were carried out. */
  readonly inDoubt: ReadonlyArray<DoubtedStep>;
  /** How it is retried, where something of it is in doubt. */
  readonly retry?: NextRetry;
  /** What people have found out since about steps that were in doubt. */
  readonly settled: ReadonlyArray<SettledDoubt>;
  /** Why the worker cannot go on with it at present. */
  readonly workerFault: string | null;
  readonly next: ReadonlyArray<NextStep>;
  /** Why a run that ended and has not done what it was to cannot be retried; null for any other. */
  readonly noRetry: string | null;
  readonly webUi: string | null;
}
