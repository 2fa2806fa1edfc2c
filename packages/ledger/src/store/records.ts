import type { JsonObject, WriteName } from "../model/row.ts";

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
  /** Id of the batch, or the workflow id; empty where everything is paused. */
  readonly of: string;
  readonly by: string;
  readonly reason: string;
  readonly since: number;
}

/** Limits of the account, the same for all workers. Amounts by currency, as decimal strings. */
export interface Limits {
  readonly maxAmounts: Readonly<Record<string, string>> | null;
  readonly approveAbove: Readonly<Record<string, string>> | null;
}

/** Identity of a ledger, and how far it has got: what a witness remembers. */
export interface LedgerMark {
  readonly ledgerId: string;
  readonly epoch: number;
  readonly sequence: number;
}
