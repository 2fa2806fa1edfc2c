import type { CreateBeneficiaryInput, CreatePayoutInput } from "@durable-payments/api-core";
import type { Duration } from "./duration.ts";

/** A payout to an existing beneficiary, or to one that is created first: exactly one of the two. */
export type PayoutInput = (
  | { readonly beneficiary: CreateBeneficiaryInput }
  | { readonly beneficiary_id: string }
) & {
  readonly payout: Omit<CreatePayoutInput, "beneficiary_id" | "unique_request_id">;
  /** Name of the account that pays, of those that the worker has; left out, the one without a name. */
  readonly account?: string;
  readonly options?: PayoutOptions;
};

/** Options of a payout run. */
export interface PayoutOptions {
  /** A beneficiary whose answer was lost is created again, or a person is asked. Default: `recreate`. */
  readonly onLostBeneficiary?: "recreate" | "ask";
  /** Amounts above this need a second person's approval: a decimal string in the payout's currency. */
  readonly approval?: { readonly above: string };
  /** Longest time to wait for completion. Default: 30 days. */
  readonly completeWithin?: Duration;
}

/** A payout that has completed; what the service does not show is null. */
export interface PayoutResult {
  /** The service's id of the payout. */
  readonly payout_id: string;
  /** Short reference, such as `P261121-AB12CD34`. */
  readonly short_reference: string | null;
  /** State in the service's own words. */
  readonly payout_status: string;
  /** Decimal string in units of `currency`. */
  readonly amount: string | null;
  /** Three-letter code (ISO 4217). */
  readonly currency: string | null;
}
