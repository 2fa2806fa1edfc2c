import { defineUpdate } from "./message-definitions.ts";

/** What a person can decide; which of these fit is part of the task. */
export type HumanTaskAction = "found" | "resend" | "amend" | "abandon";

/** How a list of the service was read for a human task. */
export interface ListReading {
  /** How many times. */
  readonly times: number;
  /** When the last reading ended, ISO 8601. */
  readonly until: string;
}

/** A run that cannot go on without a person: why, and what can be done. */
export interface HumanTask {
  /**
   * Names this question and no other, of this run or of one that it was reset from: a decision must
   * give it, and is for nothing else.
   */
  readonly question: string;
  readonly step: string;
  /** The operation that the step sends. */
  readonly operation: string;
  /** What happened, for a person. */
  readonly reason: string;
  /** What was sent; account numbers and the like are not in it. */
  readonly sent: Readonly<Record<string, unknown>>;
  /** What a resend sends, where that is another request than what was sent; mostly left out. */
  readonly toSend?: Readonly<Record<string, unknown>>;
  /** What the reconciliation found that may be it. */
  readonly candidates: ReadonlyArray<Readonly<Record<string, unknown>>>;
  /** How the service's list was read for it; left out where it was not. */
  readonly listRead?: ListReading;
  /** Since when it may have been sent, ISO 8601; left out where nothing of it is in doubt. */
  readonly inDoubtSince?: string;
  /** What can be decided. */
  readonly actions: ReadonlyArray<HumanTaskAction>;
  /** What each of these does to the money. */
  readonly consequences: Readonly<Partial<Record<HumanTaskAction, string>>>;
  /** The ids that `found` must give. */
  readonly idsWanted: ReadonlyArray<string>;
  /** When the run began to wait, ISO 8601. */
  readonly since: string;
}

/** What a person decided. */
export type Decision =
  | { readonly found: Readonly<Record<string, string>> }
  | { readonly resend: true }
  | { readonly amend: Readonly<Record<string, unknown>> }
  | { readonly abandon: string };

/**
 * A person's decision on the question that the person has read; `by` is the name under which it is
 * kept.
 */
export type Resolution = { readonly by: string; readonly question: string } & Decision;

/**
 * Answers a run that needs attention: it was carried out and these are its ids (`found`); it was
 * not and is to be sent again (`resend`); the request is to be changed, then sent (`amend`, in the shape of the run's input:
 * `{"payout": {"amount": "20.00"}}`); or the
 * run is to end (`abandon`, with why).
 */
export const resolveUpdate = defineUpdate<Resolution>("resolve");
