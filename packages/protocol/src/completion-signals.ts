import type { Cardholder, Payout } from "@durable-payments/api-core";
import { defineSignal } from "./message-definitions.ts";

/** A payout that has ended, and how. */
export interface EndedPayout {
  readonly outcome: "completed" | "failed";
  readonly payout: Payout;
}

/** A cardholder whose identity check has ended, and how. */
export interface CheckedCardholder {
  readonly outcome: "verified" | "refused" | "incomplete";
  readonly cardholder: Cardholder;
}

/** Completion signals of the tracker, by name, with what each carries. */
export interface CompletionSignals {
  readonly payoutEnded: EndedPayout;
  readonly cardholderChecked: CheckedCardholder;
}

const completionSignal = <Name extends keyof CompletionSignals>(name: Name) =>
  defineSignal<CompletionSignals[Name]>(name);

/**
 * Hints that the payout that a run waits for has ended. The run reads the payout before it believes it.
 */
export const payoutEndedSignal = completionSignal("payoutEnded");

/** Hints that the identity check that a run waits for has ended; the run reads the list itself. */
export const cardholderCheckedSignal = completionSignal("cardholderChecked");
