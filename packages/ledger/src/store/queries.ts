import type { JsonObject, WriteName, WriteRow, WriteState } from "../model/row.ts";
import type { Decision, Entry, Limits, LedgerMark, NewEntry } from "./records.ts";

/** Which writes are read. Everything that is given has to hold; the longest unchanged come first. */
export interface RowFilter {
  readonly account?: string;
  readonly operation?: string;
  readonly states?: ReadonlyArray<WriteState>;
  /** Rows with an open question: an outcome to be decided, or an approval. */
  readonly needsPerson?: boolean;
  /** Rows whose run has yet to be notified. */
  readonly isUntold?: boolean;
  /** Milliseconds since 1970 by the ledger's clock. */
  readonly changedBefore?: number;
  readonly limit?: number;
}

/** Which runs are read, newest first. */
export interface RunFilter {
  readonly workflowIds?: ReadonlyArray<string>;
  readonly account?: string;
  readonly batch?: string;
  readonly startedBefore?: number;
  readonly limit?: number;
}

/** Which waits are read, longest waiting first. */
export interface WaitFilter {
  readonly account?: string;
  readonly workflowId?: string;
  readonly runId?: string;
  readonly kind?: "payout" | "cardholder" | "balance";
  /** Only those that nobody has closed. */
  readonly isOpen?: boolean;
  readonly limit?: number;
}

/** What is read at once when a person decides. */
export interface DecisionLook {
  /** All writes of the workflow id, of all accounts. */
  readonly rows: ReadonlyArray<WriteRow>;
  /** Decisions on the workflow id so far, oldest first. */
  readonly decisions: ReadonlyArray<Decision>;
  /** The workflow id was ended by a person, and not overruled since. */
  readonly end: Decision | undefined;
  readonly startedBy: string | null;
  /** The ledger's clock. */
  readonly now: number;
  readonly epoch: number;
  /** The sequence number that the decision gets. */
  readonly sequence: number;
}

/** A row that a decision changes. */
export interface RowChange {
  /** As it is to be: its version is set, and the one that it was read with is checked, by the store. */
  readonly row: WriteRow;
  readonly entries?: ReadonlyArray<NewEntry>;
}

/** A payment that is to be started, for the check of likely duplicates. */
export interface PlannedPayment {
  readonly workflowId: string;
  /** Marks of the payee's account, and its `beneficiary_id` where it is known. */
  readonly payees: ReadonlyArray<string>;
  /** Decimal string in units of `currency`; 250 and 250.00 are the same. */
  readonly amount: string;
  readonly currency: string;
  readonly reference: string | null;
}

/** A run of another workflow id that pays, or has paid, the same to the same payee. */
export interface SimilarPayment {
  readonly workflowId: string;
  readonly reference: string | null;
  /** State of its payout; null before there is one. */
  readonly state: WriteState | null;
  readonly at: number;
}

/** Line of the log of a workflow id. */
export type LogLine =
  | { readonly is: "entry"; readonly entry: Entry }
  | { readonly is: "decision"; readonly decision: Decision };

/** Whether the log of a workflow id is as it was written. */
export type Verification =
  | { readonly isIntact: true; readonly lines: number }
  /** The first line that does not follow from the one before it. */
  | { readonly isIntact: false; readonly sequence: number };

/** Who holds a lease, and until when by the ledger's clock. */
export interface Lease {
  readonly holder: string;
  readonly until: number;
}

/** What the ledger says of itself. */
export interface LedgerState extends LedgerMark {
  /** Null until a worker pins it. */
  readonly namespace: string | null;
  readonly leastBuild: number;
  /** Why nothing is sent until `recover`. */
  readonly stopped: string | null;
  /** Of the tables: as many migrations as were made. */
  readonly schemaVersion: number;
  readonly now: number;
}

/** Limits of an account. */
export interface AccountLimits extends Limits {
  readonly account: string;
}

/** Writes of one account, operation, state and currency. */
export interface WriteCount {
  readonly account: string;
  readonly operation: string;
  readonly state: WriteState;
  readonly question: "outcome" | "approval" | null;
  readonly currency: string | null;
  readonly rows: number;
  /** Exact sum as a decimal string. */
  readonly amount: string;
  /** When the longest unchanged one changed. */
  readonly since: number;
}

/** Everything at a glance. */
export interface Overview {
  readonly state: LedgerState;
  readonly writes: ReadonlyArray<WriteCount>;
  /** Open waits by kind, with the number of them and the start of the longest. */
  readonly waits: ReadonlyArray<{
    readonly kind: "payout" | "cardholder" | "balance";
    readonly count: number;
    readonly since: number;
  }>;
  readonly runs: number;
  /** Rows whose run has yet to be notified. */
  readonly untold: number;
}

/** What `prune` removed. */
export interface Pruned {
  readonly workflowIds: number;
  readonly writes: number;
}

/** Who acts, and how it is known. */
export interface Actor {
  readonly by: string;
  readonly how: string;
  readonly reason: string | null;
}

/** A wait, and what became of it. */
export interface WaitOutcome {
  readonly closedAt: number | null;
  readonly outcome: JsonObject | null;
}

/** Names a wait. */
export interface WaitName {
  readonly account: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
}

/** A write that has made something, by the id of what it made. */
export type Owners = ReadonlyMap<string, WriteName>;
