import type { CreateBeneficiaryInput, CreatePayoutInput } from "@durable-payments/api-core";
import type { ApprovalOptions } from "./approval.ts";
import type { Duration, PollInterval } from "./duration.ts";
import { textAt } from "./values.ts";

/** A payout to an existing beneficiary, or to one that is created first. */
export type PayoutInput = (
  | { readonly beneficiary: CreateBeneficiaryInput }
  | { readonly beneficiary_id: string }
) & {
  readonly payout: Omit<CreatePayoutInput, "beneficiary_id" | "unique_request_id">;
  /** Name of the account that pays, of those that the worker has; left out, the one without a name. */
  readonly account?: string;
  readonly options?: PayoutOptions;
};

/** Longest time that a payout is waited for, where the input of its run gives no other. */
export const COMPLETE_WITHIN = "30 days";

/** Options of a payout run. */
export interface PayoutOptions {
  /** `ask`: when the service refuses a request, a person may amend it, and the run goes on. */
  readonly onRefusal?: "fail" | "ask";
  /** What to do about a beneficiary whose answer was lost, default `recreate`. */
  readonly onLostBeneficiary?: "recreate" | "ask";
  /** Lets a second person approve amounts above a limit, before anything is created. */
  readonly approval?: ApprovalOptions;
  /** Longest time to wait for completion, default {@link COMPLETE_WITHIN}. */
  readonly completeWithin?: Duration;
  /** Time between two fallback polls while it waits, default an hour to six. */
  readonly pollInterval?: PollInterval;
}

/**
 * The payout as it was last seen; what the service does not say is null. `complete_time` is null
 * while it is not complete.
 */
export interface PayoutResult {
  /** The service's id of the payout. */
  readonly payout_id: string;
  /** Short reference, such as `P261121-AB12CD34`. */
  readonly short_reference: string | null;
  /** State in the service's own words. */
  readonly payout_status: string | null;
  /** Decimal string in units of `currency`. */
  readonly amount: string | null;
  /** Three-letter code (ISO 4217). */
  readonly currency: string | null;
  /** Time of completion: ISO 8601 with offset. */
  readonly complete_time: string | null;
  /** `open` where it has not ended within `completeWithin`. */
  readonly outcome: "completed" | "open";
  /** What should be known beside: that a beneficiary may stand twice, say. Mostly left out. */
  readonly notes?: ReadonlyArray<string>;
}

/**
 * Check whether a run has ended, and its payout had not within `completeWithin`.
 *
 * @param run its state, in one word, and its result where it has one.
 * @returns true where nobody knows yet whether the payout arrives.
 */
export const isUnfinished = (run: { readonly state: string; readonly result?: unknown }): boolean =>
  run.state === "completed" &&
  textAt(run.result, "outcome") === ("open" satisfies PayoutResult["outcome"]);
