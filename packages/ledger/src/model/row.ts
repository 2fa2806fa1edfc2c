/** Any JSON value. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [name: string]: Json;
}

/** Names one write: the same in every run, retry, reset and restart of a workflow id. */
export interface WriteName {
  /** Hash of the account with the service. */
  readonly account: string;
  /** The root workflow id: that of the topmost parent, with the child's id in `step`. */
  readonly workflowId: string;
  readonly step: string;
}

/** What is known of a write; docs/contributors/ledger-states.md has the table of transitions. */
export type WriteState =
  /** Nothing was sent. */
  | "ready"
  /** The attempt that holds the token may dispatch. */
  | "sending"
  /** It may have been carried out. */
  | "unknown"
  /** A person is asked what became of it. */
  | "asking"
  /** The service said no, and it was certainly not carried out. */
  | "refused"
  | "done"
  /** Ended by a person: nothing more is sent. */
  | "ended"
  /** It was carried out, and what it made was removed since. */
  | "undone";

/** What the ledger keeps of a request. No account number, card number or secret. */
export interface WriteRequest {
  /** Hash of everything that is sent, without its key. */
  readonly hash: string;
  /** Decimal string in units of `currency`; null where it moves no money. */
  readonly amount: string | null;
  readonly currency: string | null;
  /** A `beneficiary_id`, or a mark of the account, holder and bank of a beneficiary. */
  readonly payee: string | null;
  readonly reference: string | null;
  /** What a row of a list is compared with. Sealed where there is a keyring, removed once the outcome is known. */
  readonly facts: JsonObject;
}

/** What only a person can decide. */
export interface Question {
  /** Short id, new with each question: an answer names it. */
  readonly id: string;
  readonly kind: "outcome" | "approval";
  /** Why it is asked: a sentence for a person. */
  readonly reason: string;
  /** What the service lists that may be it. */
  readonly candidates: ReadonlyArray<JsonObject>;
  /** For an approval: the mark of the payee's account, as read when it was asked for. */
  readonly account: string | null;
  /** Hash of another request, which an answer to send again is for: the one that the run gives by now. */
  readonly request?: string;
  /** Milliseconds since 1970, by the ledger's clock. */
  readonly since: number;
}

/** How the id of what was made is known. */
export type KnownBy = "answer" | "key" | "likeness" | "person" | "ledger";

/** The row of a write. All times are milliseconds since 1970 by the ledger's clock. */
export interface WriteRow extends WriteName {
  readonly operation: string;
  readonly state: WriteState;
  /** One more with each change. */
  readonly version: number;
  /** Since this version nothing but notes has changed: whoever names it, or a later one, knows the row. */
  readonly knownFrom: number;
  /** Epoch of the ledger in which it was last changed; see `Look.epoch`. */
  readonly epoch: number;
  /** Which request, and so which key (both follow from name and generation): one more with each amendment and each new send of a refused one. */
  readonly generation: number;
  readonly request: WriteRequest;
  /** Sends without an outcome. */
  readonly doubt: number;
  /** Names the attempt that may dispatch: epoch and random; null where none may. */
  readonly token: string | null;
  /** The run that changed it last. */
  readonly runId: string;
  /** Who started the run that made it, or asked last for its approval, as that run says: that person cannot approve it. */
  readonly startedBy: string | null;
  /** Dispatches of all generations. */
  readonly sends: number;
  /** First dispatch of this generation; for the lifetime of its key. */
  readonly firstSentAt: number | null;
  /** What was created before this is certainly something else; null: nothing is excluded by time. */
  readonly from: number | null;
  /** Until when a send in doubt may still be carried out. */
  readonly until: number | null;
  /** How often a complete list, read after the lag, did not show it. */
  readonly absences: number;
  /** Since when the list could not be used as evidence. */
  readonly unprovableSince: number | null;
  readonly madeId: string | null;
  /** What is kept of the answer. */
  readonly result: JsonObject | null;
  readonly knownBy: KnownBy | null;
  /** Why the service refused it, or why it was not sent, for a person. */
  readonly message: string | null;
  readonly question: Question | null;
  /** Decisions up to this one are void: sequence number. */
  readonly decisionsAfter: number;
  /** The run has not been notified that its question is answered, or that it was found. */
  readonly isUntold: boolean;
  readonly createdAt: number;
  readonly changedAt: number;
}
