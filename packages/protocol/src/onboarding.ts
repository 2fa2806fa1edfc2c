import type { CreateCardholderInput } from "@durable-payments/api-core";
import type { Duration } from "./duration.ts";

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
