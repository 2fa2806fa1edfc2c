/** Any JSON value. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [name: string]: Json;
}

/** The name of one write: the same in every run, retry, reset and restart of a workflow id. */
export interface WriteName {
  /** Hash of the account with the service. */
  readonly account: string;
  /** The workflow's own id; of a write with a key, the id that its operation and key name. */
  readonly workflowId: string;
  readonly step: string;
}

/** The workflow that asks for a write. Its name does not hold it: any workflow may ask for a write with a key. */
export interface WriteOwner {
  /** Id of that workflow. */
  readonly ownerId: string;
  /** Id of its topmost parent. */
  readonly rootId: string;
}

/** The state of a write; docs/contributors/ledger-states.md has the table of transitions. */
export type WriteState =
  /** Nothing was sent. */
  | "ready"
  /** The attempt that holds the token may dispatch. */
  | "sending"
  /** It may have taken effect. */
  | "unknown"
  /** A person is asked for its outcome. */
  | "asking"
  /** The service refused the request, which certainly had no effect. */
  | "refused"
  | "done"
  /** Ended by a person: nothing more is sent. */
  | "ended"
  /** It succeeded, and its result was removed later. */
  | "undone";

/** How a run has ended in Temporal; `missing`: Temporal knows no run of the id. */
export type EndState = "succeeded" | "failed" | "timedOut" | "terminated" | "cancelled" | "missing";

/** The part of a request that the ledger keeps. No account number, card number or secret. */
export interface WriteRequest {
  /** Hash of the whole request, without its key. */
  readonly hash: string;
  /**
   * Hash of the part that an approval is for: for a payout without its `beneficiary_id`, because the account is
   * approved instead.
   */
  readonly terms: string;
  /** Decimal string in units of `currency`; null if it moves no money. */
  readonly amount: string | null;
  readonly currency: string | null;
  /** A `beneficiary_id`, or a mark of the account, holder and bank of a beneficiary. */
  readonly payee: string | null;
  readonly reference: string | null;
  /** Day on which a payout is to be paid, YYYY-MM-DD; null of all other operations. */
  readonly paymentDate: string | null;
  /** Values that a row of a list is compared with. Sealed if there is a keyring, removed once the outcome is known. */
  readonly facts: JsonObject;
}

/** The root of a run, as Temporal says it. */
export interface Root {
  readonly id: string;
  /** First run of its chain: a continued, reset or repeated run keeps it. Null if Temporal has deleted the root. */
  readonly firstRunId: string | null;
}

/** A question to a person. */
export interface Question {
  /** Short id, new with each question: an answer names it. */
  readonly id: string;
  readonly kind: "outcome" | "approval";
  /** The reason of the question: a sentence for a person. */
  readonly reason: string;
  /** Possible matches in the service's list. */
  readonly candidates: ReadonlyArray<JsonObject>;
  /** For an approval: the mark of the payee's account, as read when it was asked for. */
  readonly account: string | null;
  /** For an approval: the root of the run, if Temporal was asked. Without a start of it, nobody can approve. */
  readonly root?: Root;
  /** Person by whom it is approved: its run has not read that yet, and nobody else is asked. */
  readonly approvedBy?: string;
  /** Hash of the run's current request, if it changed: the answer `resend` sends that request. */
  readonly request?: string;
  /** Milliseconds since 1970, by the ledger's clock. */
  readonly since: number;
}

/** How the id became known. */
export type KnownBy = "answer" | "key" | "likeness" | "person" | "ledger";

/** The row of a write. All times are milliseconds since 1970 by the ledger's clock. */
export interface WriteRow extends WriteName, WriteOwner {
  readonly operation: string;
  readonly state: WriteState;
  /** Grows by one with each change. */
  readonly version: number;
  /** Since this version only notes have changed: an attempt that names it, or a later one, knows the row. */
  readonly knownFrom: number;
  /** Epoch of the ledger in which it was last changed; see `Look.epoch`. */
  readonly epoch: number;
  /** Number of the request, from which its key follows: grows with each amendment and each new send of a refused request. */
  readonly generation: number;
  readonly request: WriteRequest;
  /** Sends without an outcome. */
  readonly doubt: number;
  /** The attempt that may dispatch, as `epoch:random`; null if no attempt may. */
  readonly token: string | null;
  /** The run that has reported its own cancellation: a frozen attempt of that run sends nothing. */
  readonly closedBy: string | null;
  /** The run that last changed it. */
  readonly runId: string;
  /** Dispatches of all generations. */
  readonly sends: number;
  /** First dispatch of this generation; for the lifetime of its key. */
  readonly firstSentAt: number | null;
  /** A row created before this time is certainly not ours; null: nothing is excluded by time. */
  readonly from: number | null;
  /** Until when a send with an unknown outcome may still take effect. */
  readonly until: number | null;
  /** How often a complete list, read after the lag, did not show it. */
  readonly absences: number;
  /** The time since when the list could not be used as evidence. */
  readonly unprovableSince: number | null;
  readonly madeId: string | null;
  /** The kept part of the response. */
  readonly result: JsonObject | null;
  readonly knownBy: KnownBy | null;
  /** The reason of the refusal, or why it was not sent, for a person. */
  readonly message: string | null;
  readonly question: Question | null;
  /** Decisions up to this one are void: sequence number. */
  readonly decisionsAfter: number;
  /** The run has not been notified that its question is answered, or that it was found. */
  readonly mustNotify: boolean;
  readonly createdAt: number;
  readonly changedAt: number;
}
