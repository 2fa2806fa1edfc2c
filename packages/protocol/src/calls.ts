// What workflows and activities of a write say to each other. Frozen within a major version, as histories have it.
import type { JsonFields } from "./values.ts";

/** A request of a later step, checked together with the first. */
export interface PlannedRequest {
  readonly operation: string;
  readonly request: JsonFields;
}

/** How a step is to be sent, beside its request. */
export interface WriteOptions {
  /** A lost `createBeneficiary`: sent again, or a person is asked. Default `resend`. */
  readonly whenLost?: "resend" | "ask";
  /** False: always creates a new beneficiary. */
  readonly reuse?: false;
  /** Amounts above this need a second person's approval: a decimal string in the payment's currency. */
  readonly approveAbove?: string;
}

/** Input of the activity of a write. */
export interface WriteCall extends WriteOptions {
  /** Name of the step, unique in its run and without a colon; the row's step is `rowStep(rootId, { workflowId, step })`. */
  readonly step: string;
  /** Whether the user named it: then another request is an amendment. */
  readonly isNamed: boolean;
  readonly request: JsonFields;
  /** The root workflow id, under which the row is kept; a child's own id is part of the row's step. */
  readonly rootId: string;
  /** The run that scheduled it: one that works in another run reconciles first. */
  readonly runId: string;
  /** Who started the run, as its memo says. */
  readonly startedBy?: string;
  /** Whether the run was continued, or is one of a schedule: then every write needs a name of its own. */
  readonly isContinued: boolean;
  /** 1 for the first call of the step in this run. */
  readonly call: number;
  /** The run is the first of its id, as `isVouchedFor` says. */
  readonly isFirst: boolean;
  /** Version of the row that the last result, or the failed run before, has named. */
  readonly version?: number;
  /** Checked, together with the request, before anything is sent; what earlier steps fill in may be missing of them. */
  readonly planned?: ReadonlyArray<PlannedRequest>;
  /** Rows' steps that this run has called with the same operation: none of them is a renamed step. */
  readonly claimed?: ReadonlyArray<string>;
  /** `close`: its run is being cancelled, and nothing new is sent. */
  readonly mode?: "close";
}

/** The activity that undoes what a step has made. */
export const UNDO = "undo";

/** Input of {@link UNDO}: the step whose row is undone. Its answer is `done` also where nothing was made. */
export type UndoCall = Omit<
  WriteCall,
  "isNamed" | "mode" | "planned" | "request" | keyof WriteOptions
>;

/** Result of the activity of a write. */
export type WriteAnswer =
  | {
      readonly is: "done";
      /** The fields that are kept of the service's answer. */
      readonly made: JsonFields;
      /** How it is known, where it was not answered. */
      readonly by?: "key" | "likeness" | "person";
    }
  /** Only a person can help: the run waits for a nudge, and calls again with this version. */
  | {
      readonly is: "waiting";
      readonly needs: "answer" | "approval" | "resume";
      readonly question: string | null;
      readonly why: string;
      readonly version: number;
    };

/** Signal to a run that a person has decided. It names the steps that are to look again; without steps all do. It carries nothing else. */
export const NUDGE = "durable-payments/nudge";
export interface Nudge {
  readonly steps?: ReadonlyArray<string>;
}

/** First of the details of a failure that ends a step. */
export interface FailureFacts {
  readonly operation: string;
  readonly step: string;
  /** Version of the row. */
  readonly version?: number;
  /** As the service gives it. */
  readonly code?: string | number;
  /** In the service's words. */
  readonly reason?: string;
}

/** Types of the failures that end a step. */
export const failureTypes = {
  invalidRequest: "InvalidRequest",
  refused: "Refused",
  ended: "Ended",
  rejected: "Rejected",
  alreadyCarriedOut: "AlreadyCarriedOut",
  madeTwice: "MadeTwice",
  overLimit: "OverLimit",
  payoutFailed: "PayoutFailed",
  payoutStillOpen: "PayoutStillOpen",
  /** The service shows another amount, currency or payee than was sent. */
  payoutDiffers: "PayoutDiffers",
  notVerified: "NotVerified",
  notFunded: "NotFunded",
  cannotBeUndone: "CannotBeUndone",
} as const;

/** Type of the failure of mode `close` where nothing was sent: the step is cancelled. */
export const CANCELLED = "Cancelled";

/** Types of the failures after which Temporal tries an activity again; their message is shown as the reason. */
export const waitTypes = {
  /** Waits for time: the service, the list, a rate limit, funds. */
  notYet: "NotYet",
} as const;

/** Returns the task queue of an account's activities for runs of a queue. The account without a name has none of its own. */
export const accountQueue = (taskQueue: string, account: string | undefined): string =>
  account === undefined ? taskQueue : `${taskQueue}@${account}`;
