import type {
  CreateBeneficiaryInput,
  CreateCardholderInput,
  CreatePayoutInput,
} from "@durable-payments/api-core";

type Long =
  `${"msec" | "millisecond" | "sec" | "second" | "min" | "minute" | "hr" | "hour" | "day" | "week" | "yr" | "year"}${"" | "s"}`;
type Unit = "ms" | "s" | "m" | "h" | "d" | "w" | "y" | Long;
type UnitAnyCase = Unit | Capitalize<Unit> | Uppercase<Unit>;

/**
 * A length of time: milliseconds, or a text as Temporal reads it, such as `"90 seconds"` or `"30 days"`. Temporal's own
 * type of it is `any` where modules are resolved as Node does.
 */
export type Duration =
  | `${number}`
  | `${number}${UnitAnyCase}`
  | `${number} ${UnitAnyCase}`
  | number;

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

/** A card for an existing cardholder, or for one that is created first. */
export type OnboardCardholderInput = (
  | { readonly cardholder: CreateCardholderInput }
  | { readonly card_holder_id: string }
) & {
  readonly card: {
    readonly product_code: string;
    /** Initial recharge in USD, a decimal string; or a number, as the service's document has it. */
    readonly card_limit: string | number;
    /** Names the card, which also shows that it exists. */
    readonly card_name?: string;
  };
  /** Name of the account that pays, of those that the worker has; left out, the one without a name. */
  readonly account?: string;
  readonly options?: OnboardCardholderOptions;
};

/** Options of an onboarding. */
export interface OnboardCardholderOptions {
  /** `compensate`: when the run fails, cancel the card and remove the cardholder that it created. */
  readonly onFailure?: "keep" | "compensate";
  /** Longest time to wait for the identity check. Default: 7 days. */
  readonly verifyWithin?: Duration;
  /** Longest time to wait for funds. Default: 30 days. */
  readonly fundWithin?: Duration;
}

/** What was issued, and to whom. */
export interface OnboardCardholderResult {
  /** The service's id of the cardholder. */
  readonly card_holder_id: string;
  /** The service's id of the card. */
  readonly card_id: string;
  /** State of the card in the service's own words. */
  readonly card_status: string | null;
  /** The USD balance that funded the card. */
  readonly balance_id: string;
  /** Initial recharge in USD: a decimal string. */
  readonly card_limit: string;
}
