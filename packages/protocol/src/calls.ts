import { cleanText } from "@durable-payments/client/values";
import type { JsonFields } from "./values.ts";
import type { SignalDefinition, UpdateDefinition } from "@temporalio/common";

// The inputs are in payloads.ts: their types alone, so that no workflow loads a schema.
export type * from "./payloads.ts";

// Messages between workflows and activities about writes, waits, batches and vouchers. Frozen within a major version,
// because histories contain them.

/**
 * The global set, present only while a worker that starts loads its bundle, of the operations of a user's own that the
 * workflows call.
 */
export const OWN_OPERATIONS = "durable-payments/own-operations@1";

/** The activity that undoes a step. */
export const UNDO = "undo";

/** Result of the activity of a write. */
export type WriteAnswer =
  | {
      readonly is: "done";
      /** The kept fields of the service's response. */
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

/** Content of a nudge: the steps that check again; without steps, all do. */
export interface Nudge {
  readonly steps?: ReadonlyArray<string>;
}

/** Signal to a run that a person has decided. Defined by hand, so that a sender does not load workflow code. */
export const nudgeSignal = {
  type: "signal",
  name: "durable-payments/nudge",
} as SignalDefinition<[Nudge?]>;

/** The first that is known of a run's payment. */
export type EarlyAnswer =
  /** The service has created it: the first payout, cardholder or card of the run, with the service's id. */
  | { readonly is: "created"; readonly operation: string; readonly id: string }
  /** It is not sent before a second person has approved it. */
  | { readonly is: "needs approval"; readonly reason: string }
  /** The run has failed, and its payment certainly had no effect. */
  | { readonly is: "refused"; readonly reason: string }
  /** The run has started, and the outcome is not known yet: never start the payment under another key. */
  | { readonly is: "started"; readonly reason: string };

/** The operations that an answer is about, and the field of their results that has the id. */
export const ID_FIELDS: Readonly<Record<string, string>> = {
  createPayout: "payout_id",
  createCardholder: "card_holder_id",
  createCard: "card_id",
};

/** Update by which a start waits for the first answer about its payment. Defined by hand, as the nudge is. */
export const createdUpdate = {
  type: "update",
  name: "durable-payments/created",
} as UpdateDefinition<EarlyAnswer>;

/** First element of `details` of a step's failure. */
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

/** Type of the failure after which Temporal retries an activity, since time helps; its message is shown as the reason. */
export const NOT_YET = "NotYet";

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

/**
 * Written by `startPayment`, `retryPayment`, and the plugin of a client, which start with an id that is refused if it
 * is known.
 */
export interface Voucher {
  readonly workflowId: string;
  /** Milliseconds since 1970, by the clock of the starter. */
  readonly at: number;
  /** `first`: no run had this id. `retry`: the earlier failed run named the versions of its rows. */
  readonly is: "first" | "retry";
  readonly versions?: Readonly<Record<string, number>>;
}

/** Types of the waiting activities, by kind of wait. */
export const WAIT = {
  payout: "awaitPayout",
  return: "awaitReturn",
  cardholder: "awaitVerification",
  balance: "awaitFunds",
} as const;

/** Start-to-close timeout of one attempt, which looks once and records the wait. If its worker is lost, it is repeated. */
export const WAIT_ATTEMPT = "2 minutes";

/** Returns the id of the activity of a wait, such as `awaitPayout:<payout_id>`: the tracker completes it by this id. */
export const waitActivityId = (name: (typeof WAIT)[keyof typeof WAIT], thing: string): string =>
  `${name}:${thing}`;

/** Result of `awaitPayout`; the step checks that it names its payout. */
export interface SeenPayout {
  readonly payout_id: string;
  /** `open` only in response to a single reading. */
  readonly outcome: "open" | "completed" | "failed";
  /** As the service words it. */
  readonly payout_status: string;
  readonly amount?: string;
  readonly currency?: string;
  /** Short id of the payout, if the service shows it. */
  readonly short_reference?: string;
  /** The difference between the request and the service's response, as a text. */
  readonly contradiction?: string;
}

/** Result of `awaitReturn`; the step checks that it names its payout. */
export interface SeenReturn {
  readonly payout_id: string;
  /**
   * `returned`: the money had left, and came back; `failed`: the payout failed before anybody saw that it completed; `open`
   * only in response to a single reading.
   */
  readonly outcome: "open" | "failed" | "returned";
  /** As the service words it. */
  readonly payout_status: string;
  /** When it was seen, as ISO 8601. */
  readonly seen_at: string;
}

/** Result of `awaitVerification`; the step checks that it names its cardholder. */
export interface SeenCardholder {
  readonly card_holder_id: string;
  /** `removed`: the cardholder was removed by a step of the same workflow id. */
  readonly outcome: "open" | "verified" | "refused" | "incomplete" | "removed";
  /** As the service words it; absent if it is not listed. */
  readonly card_holder_status?: string;
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

/** Answer of `startRows`. `done`: every row has ended, or will not be started; the ledger has the outcomes. */
export type StartedRows =
  | { readonly is: "done" }
  /** Only a person helps: the batch waits for its approval, or is paused. */
  | { readonly is: "waiting"; readonly why: string };

/** Most rows of a chunk: with their texts they stay below Temporal's limit of a payload. */
export const MOST_ROWS_OF_CHUNK = 500;

/** Returns the workflow id of a chunk, numbered from 1. */
export const chunkId = (batch: string, number: number): string => `${batch}/${number}`;
