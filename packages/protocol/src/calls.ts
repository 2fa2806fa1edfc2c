import { cleanText } from "@durable-payments/api-core/values";
import type { JsonFields } from "./values.ts";
import type { PayoutInput } from "./inputs.ts";
import type { SignalDefinition } from "@temporalio/common";

// Messages between workflows and activities about writes, waits, batches and vouchers. Frozen within a major version,
// because histories contain them.

/** A request of a later step, checked together with the first. */
export interface PlannedRequest {
  readonly operation: string;
  readonly request: JsonFields;
}

/** Options of a step, in addition to its request. */
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
  /** Name of the step, unique in its run. */
  readonly step: string;
  /** Business key of the write, if it has one: its row is that of {@link keyedName}, whichever workflow asks. */
  readonly key?: string;
  /** Whether the user named it: then a changed request is an amendment. */
  readonly isNamed: boolean;
  readonly request: JsonFields;
  /** The root workflow id, as the run knows it: its stops and pauses count as well. It permits nothing. */
  readonly rootId: string;
  /** The run that scheduled the activity: if the activity works in another run, it reconciles first. */
  readonly runId: string;
  /** Whether the run was continued, or has a cron schedule: then every write needs a name of its own. */
  readonly isContinued: boolean;
  /** 1 for the first call of the step in this run. */
  readonly call: number;
  /** The run is the first of its id, as `isVouchedFor` says. */
  readonly isFirst: boolean;
  /** Version of the row that the last result, or the earlier failed run, named. */
  readonly version?: number;
  /** Checked with the request before anything is sent; fields that earlier steps fill in may be missing. */
  readonly planned?: ReadonlyArray<PlannedRequest>;
  /** Steps that this run has called with the same operation: none of them is a renamed step. */
  readonly claimed?: ReadonlyArray<string>;
  /** Outcomes of earlier steps and waits: nothing is sent before the ledger agrees. */
  readonly believed?: ReadonlyArray<Believed>;
  /** `close`: its run is being cancelled, and nothing new is sent. */
  readonly mode?: "close";
}

/**
 * The outcome of an earlier step or wait, as a run believes it. Anyone with access to Temporal can complete or fail an
 * activity by hand, so the activity of a later write compares it with the ledger.
 */
export interface Believed {
  /** Name of the account that it was called for; absent for the unnamed one. */
  readonly account?: string;
  /** Id of the activity of a wait. */
  readonly wait?: string;
  /** Name, operation and key of a step. */
  readonly step?: string;
  readonly operation?: string;
  readonly key?: string;
  /** Ids in the result of a step. */
  readonly ids?: ReadonlyArray<string>;
  /** Outcome of a wait, or the type of a failure. */
  readonly outcome?: string;
}

/** The activity that undoes a step. */
export const UNDO = "undo";

/** Input of {@link UNDO}: the step to undo. Its answer is `done` even if nothing was made. */
export interface UndoCall extends Omit<
  WriteCall,
  "isNamed" | "mode" | "planned" | "request" | keyof WriteOptions
> {
  /** Operation of the step; {@link UNDO} if this run has not called it. */
  readonly operation: string;
  /** The result of the step in this run: a restored ledger may not know it. */
  readonly made?: JsonFields;
}

/** Result of the activity of a write. */
export type WriteAnswer =
  | {
      readonly is: "done";
      /** The fields of the service's answer that are kept. */
      readonly made: JsonFields;
      /** The evidence, if the response was lost. */
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

/** Content of a nudge: only the steps that look again; without steps, all do. */
export interface Nudge {
  readonly steps?: ReadonlyArray<string>;
}

/** Signal to a run that a person has decided. Defined by hand, so that a sender does not load workflow code. */
export const nudgeSignal = {
  type: "signal",
  name: "durable-payments/nudge",
} as SignalDefinition<[Nudge?]>;

/** First of the details of a failure that ends a step. */
export interface FailureFacts {
  readonly operation: string;
  readonly step: string;
  /** Workflow id of the row: another than the run's own, if the step has a key. */
  readonly workflowId?: string;
  /** Version of the row. */
  readonly version?: number;
  /** The service's own id. */
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

/** Type of the failure of mode `close` if nothing was sent: the step is cancelled. */
export const CANCELLED = "Cancelled";

/** Types of the failures after which Temporal retries an activity; their message is shown as the reason. */
export const waitTypes = {
  /** Waits for time: the service, the list, a rate limit, funds. */
  notYet: "NotYet",
} as const;

/** Returns the task queue of an account's activities for runs of a queue. The unnamed account uses the queue itself. */
export const accountQueue = (taskQueue: string, account: string | undefined): string =>
  account === undefined ? taskQueue : `${taskQueue}@${account}`;

/** Returns the name of the account whose activities a queue has; undefined for the unnamed account. */
export const accountOfQueue = (taskQueue: string): string | undefined => taskQueue.split("@")[1];

/**
 * Names the write with a business key: the same for every workflow that asks, for a `payout` that was started under the
 * id `payout/KEY`, and for a row of a file. A key in another spelling that looks the same is the same key.
 */
export const keyedName = (account: string, operation: string, key: string) => ({
  account,
  workflowId: `${operation === "createPayout" ? "payout" : operation}/${cleanText(key)}`,
  step: operation,
});

/** The memo field of a run's voucher. */
export const VOUCHER = "durable-payments/voucher";

/** A voucher holds for a run that starts within this time of it. */
const HOLDS_MS = 10_000;

/** Written by `startPayment`, `retryPayment`, and the plugin of a client, which start with an id that is refused if it is known. */
export interface Voucher {
  readonly workflowId: string;
  /** Milliseconds since 1970, by the clock of the starter. */
  readonly at: number;
  /** `first`: no run had this id. `retry`: the earlier failed run named the versions of its rows. */
  readonly is: "first" | "retry";
  readonly versions?: Readonly<Record<string, number>>;
}

/** Facts about a run that decide whether its voucher holds. */
export interface VouchedRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly firstExecutionRunId: string;
  readonly cronSchedule?: string | undefined;
  /** Milliseconds since 1970. */
  readonly startTime: number;
  readonly memo: JsonFields | undefined;
}

/** Reads the voucher of a run. A copied memo, a reset, a schedule and a continued run have none: their first send is reconciled. */
export const voucherOf = (run: VouchedRun): Voucher | undefined => {
  const { cronSchedule, firstExecutionRunId, memo, runId, startTime, workflowId } = run;
  const given = memo?.[VOUCHER] as Partial<Voucher> | undefined;
  if (given?.workflowId !== workflowId || typeof given.at !== "number") return undefined;
  if (given.is !== "first" && given.is !== "retry") return undefined;
  if (runId !== firstExecutionRunId || (cronSchedule ?? "") !== "") return undefined;
  return Math.abs(startTime - given.at) <= HOLDS_MS ? (given as Voucher) : undefined;
};

/** Types of the waiting activities, by kind of wait. */
export const WAIT = {
  payout: "awaitPayout",
  cardholder: "awaitVerification",
  balance: "awaitFunds",
} as const;

/** Start-to-close timeout of one attempt, which looks once and records the wait. If its worker is lost, it is repeated. */
export const WAIT_ATTEMPT = "2 minutes";

/** Returns the id of the activity of a wait, such as `awaitPayout:<payout_id>`: the tracker completes it by this id. */
export const waitActivityId = (name: (typeof WAIT)[keyof typeof WAIT], thing: string): string =>
  `${name}:${thing}`;

/** Input of every wait. */
interface Waiting {
  /** `look`: the service is read once, and `open` is a valid answer: the last look after the end of a wait. */
  readonly mode?: "look";
}

/** Input of `awaitPayout`. */
export interface PayoutWait extends Waiting {
  readonly payout_id: string;
  /** The request: an answer about something else is a contradiction. */
  readonly sent?: {
    readonly amount: string;
    readonly currency: string;
    readonly beneficiary_id: string;
  };
}

/** Result of `awaitPayout`; the step checks that it names its payout. */
export interface SeenPayout {
  readonly payout_id: string;
  /** `open` only in answer to a look. */
  readonly outcome: "open" | "completed" | "failed";
  /** As the service words it. */
  readonly payout_status: string;
  readonly amount?: string;
  readonly currency?: string;
  /** Short id of the payout, if the service shows it. */
  readonly short_reference?: string;
  /** The difference between the request and the service's answer, in words. */
  readonly contradiction?: string;
}

/** Input of `awaitVerification`. */
export interface CardholderWait extends Waiting {
  readonly card_holder_id: string;
}

/** Result of `awaitVerification`; the step checks that it names its cardholder. */
export interface SeenCardholder {
  readonly card_holder_id: string;
  /** `removed`: the cardholder was removed by a step of the same workflow id. */
  readonly outcome: "open" | "verified" | "refused" | "incomplete" | "removed";
  /** As the service words it; absent if it is not listed. */
  readonly card_holder_status?: string;
}

/** Input of `awaitFunds`. */
export interface FundsWait extends Waiting {
  readonly currency: string;
  /** Decimal string in units of `currency`. */
  readonly amount: string;
}

/** Result of `awaitFunds`; the step checks currency and amount. */
export interface SeenFunds {
  readonly currency: string;
  /** The amount that is needed. */
  readonly amount: string;
  readonly outcome: "open" | "enough";
  readonly balance_id: string;
  readonly available_balance: string;
}

/** Activities that wait, by type. */
export interface WaitActivities {
  readonly awaitPayout: (wait: PayoutWait) => Promise<SeenPayout>;
  readonly awaitVerification: (wait: CardholderWait) => Promise<SeenCardholder>;
  readonly awaitFunds: (wait: FundsWait) => Promise<SeenFunds>;
}

/** A row of a batch with its input: encrypted as all that crosses Temporal. The ledger has no account number. */
export interface PayoutRow {
  /** Line of the file, from 1. */
  readonly number: number;
  readonly workflowId: string;
  readonly input: PayoutInput;
}

/** Input of `payoutBatch`: as many rows of a batch as one payload may have. */
export interface PayoutChunk {
  /** Id of the batch in the ledger. */
  readonly batch: string;
  /** The person who uploaded it, and cannot approve it. */
  readonly startedBy: string;
  /** Most runs of these rows that have not sent yet. */
  readonly window: number;
  readonly rows: ReadonlyArray<PayoutRow>;
}

/** Answer of `startRows`. */
export type StartedRows =
  /** Every row has ended, or will not be started. */
  | {
      readonly is: "done";
      readonly succeeded: number;
      readonly failed: number;
      readonly rejected: number;
    }
  /** Only a person helps: the batch waits for its approval, or is paused. */
  | { readonly is: "waiting"; readonly why: string };

/** Activities of a batch. */
export interface BatchActivities {
  readonly startRows: (chunk: PayoutChunk) => Promise<StartedRows>;
}

/** Most rows of a chunk: with their texts they stay below Temporal's limit of a payload. */
export const MOST_ROWS_OF_CHUNK = 500;

/** Returns the workflow id of a chunk, numbered from 1. */
export const chunkId = (batch: string, number: number): string => `${batch}/${number}`;
