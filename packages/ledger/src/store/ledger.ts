import type { JsonObject, WriteName, WriteRow } from "../model/row.ts";

/** What a person decides. */
export type DecisionKind =
  | "approve"
  | "reject"
  /** The write was carried out: `value.id` is what it made. */
  | "found"
  /** Send it again. */
  | "resend"
  /** Nothing more is sent under this workflow id. */
  | "end"
  /** An end is overruled. */
  | "overrule"
  /** The run may be started again with another request. */
  | "amend"
  | "pause"
  | "resume"
  | "cancel"
  | "retry"
  | "recover";

/** A decision to be recorded. */
export interface NewDecision {
  readonly account: string;
  /** Empty where it concerns all runs. */
  readonly workflowId: string;
  /** Null where it concerns the workflow id as a whole. */
  readonly step: string | null;
  readonly kind: DecisionKind;
  /** The question that it answers, or the hash of what is approved. */
  readonly question: string | null;
  readonly by: string;
  /** How it is known who decides: a terminal's user, a flag. */
  readonly how: string;
  readonly reason: string | null;
  readonly value: JsonObject;
}

/** A decision as recorded: append-only. */
export interface Decision extends NewDecision {
  readonly sequence: number;
  readonly at: number;
}

/** One line of the append-only log of a workflow id, chained by hashes. */
export interface NewEntry {
  /** `send`: a dispatch; `outcome`: what became of it; the others explain. */
  readonly kind: "send" | "outcome" | "evidence" | "change" | "note";
  /** The worker, tool or person. */
  readonly who: string;
  /** A few words: "sent", "carried out", "not listed", "made twice". */
  readonly what: string;
  readonly details: JsonObject;
}

/** An entry as recorded. */
export interface Entry extends NewEntry, WriteName {
  readonly sequence: number;
  readonly at: number;
  readonly runId: string;
  readonly generation: number;
  /** SHA-256 over the entry and the hash of the one before it of the same workflow id. */
  readonly hash: string;
}

/** Why sends are stopped, and by whom. */
export interface Pause {
  /** Everything, one batch, or one workflow id. */
  readonly scope: "all" | "batch" | "run";
  readonly by: string;
  readonly reason: string;
  readonly since: number;
}

/** Limits of the account, the same for all workers. Amounts by currency, as decimal strings. */
export interface Limits {
  readonly maxAmounts: Readonly<Record<string, string>> | null;
  readonly approveAbove: Readonly<Record<string, string>> | null;
}

/** Everything that decides about a write, read in one transaction. */
export interface Look {
  readonly row: WriteRow | undefined;
  /** The ledger's clock. */
  readonly now: number;
  /** One more with each recovery. A row of an earlier epoch does not prove that nothing was sent. */
  readonly epoch: number;
  /** The highest sequence number of all entries and decisions. */
  readonly sequence: number;
  /** Oldest build that may send. */
  readonly leastBuild: number;
  /** Set while the ledger was restored and `recover` has not run: nothing is sent. */
  readonly stopped: string | null;
  /** The workflow id was ended by a person, and not overruled since. */
  readonly end: Decision | undefined;
  /** Another account has a row of this workflow id and step: nothing is sent under two accounts. */
  readonly isOfOtherAccount: boolean;
  /** Whoever started the run, where that is known. */
  readonly startedBy: string | null;
  readonly pause: Pause | undefined;
  readonly limits: Limits;
  /** Decisions about this write after `row.decisionsAfter`, oldest first. */
  readonly decisions: ReadonlyArray<Decision>;
  /** A batch's approval that covers this run. */
  readonly batch: { readonly id: string; readonly approvedBy: string | null } | undefined;
}

/** What a transaction changes. */
export interface Change {
  /** The row as it is to be: its version is set by the store. */
  readonly row?: WriteRow;
  readonly entries?: ReadonlyArray<NewEntry>;
  readonly decision?: NewDecision;
}

/** Another write has made what this one is said to have made. Nothing was changed. */
export class MadeByAnother extends Error {
  override readonly name = "MadeByAnother";
  readonly owner: WriteName;
  constructor(owner: WriteName, id: string) {
    super(`${id} was made by ${owner.workflowId} (${owner.step}).`);
    this.owner = owner;
  }
}

/** A run, as whoever started it or its first activity recorded it. */
export interface NewRun {
  readonly account: string | null;
  readonly workflowId: string;
  readonly runId: string | null;
  readonly type: string;
  readonly startedBy: string | null;
  readonly batch: string | null;
  readonly batchRow: number | null;
  /** What it is to pay, for lists and for the check of likely duplicates. */
  readonly amount: string | null;
  readonly currency: string | null;
  readonly payee: string | null;
  readonly reference: string | null;
}
export interface Run extends NewRun {
  readonly startedAt: number;
}

/** Something that a run waits for at the service, until the tracker completes the activity. */
export interface Wait {
  readonly account: string;
  readonly workflowId: string;
  readonly runId: string;
  /** `awaitPayout:<payout_id>`. */
  readonly activityId: string;
  readonly kind: "payout" | "cardholder" | "balance";
  /** payout_id, card_holder_id, or currency. */
  readonly thing: string;
  readonly since: number;
}

/** Identity of a ledger, and how far it has got: what a witness remembers. */
export interface LedgerMark {
  readonly ledgerId: string;
  readonly epoch: number;
  readonly sequence: number;
}

/**
 * The truth about writes. Every method rejects with `LedgerUnavailable` where the ledger cannot be reached; then
 * nothing is sent. One instance serves all accounts of a namespace.
 */
export interface Ledger {
  /** Where it is, without user and password. */
  readonly place: string;
  /** Whether it serves the workers of this host alone. */
  readonly isOfOneHost: boolean;
  /** Reads everything that decides about a write. */
  readonly look: (name: WriteName) => Promise<Look>;
  /**
   * Changes a row: looks, decides and writes in one transaction, durable when it resolves. Ends, pauses and epochs that
   * are committed before are seen. `decide` is pure: it may be called again.
   *
   * @returns the look, with the row as it is now.
   * @throws MadeByAnother where another write owns `row.madeId` (payouts, cardholders, cards); what `decide` throws.
   */
  readonly transact: (name: WriteName, decide: (look: Look) => Change) => Promise<Look>;
  readonly close: () => Promise<void>;
  // Identity, epochs and pins: store/meta.ts. Queries: queries/*.ts. Waits, leases, pauses, batches: see the brief.
}
