import type { Settlement } from "../environment/simulator-timing.ts";

/** What people do with a run, beside resolving its tasks. */
export type Intervention =
  | {
      readonly kind: "cancel" | "terminate";
      /** Counted from the start of the run. */
      readonly afterMs: number;
      readonly thenRetry: boolean;
    }
  | { readonly kind: "retry"; readonly amend?: object }
  | {
      /** Whatever the run asks, it is abandoned, and must stay unpaid from then on. */
      readonly kind: "abandon";
      /** Whether somebody tries to retry it by its id, beside the retry of all that failed. */
      readonly thenRetry: boolean;
    };

interface Planned {
  readonly workflowId: string;
  readonly startAtMs: number;
  /** How many runs start at this moment and make what no list distinguishes; 1 for most. */
  readonly alike: number;
  readonly input: object;
  readonly intervention: Intervention | undefined;
}

/** A payment of a run; its payout is known in the ledger by the reason, which no reconciliation reads. */
export interface Payment {
  readonly reason: string;
  /** The amounts that it may have: more than one where the run is amended. */
  readonly amounts: readonly [string, ...string[]];
  readonly currency: string;
  /** Known by its id, or by the nickname of the one that the run creates. */
  readonly beneficiary: { readonly id: string } | { readonly nickname: string };
  readonly settlement: Settlement;
}

/** A run that pays once (`payout`) or twice (`payTwice`). */
export interface PlannedPayout extends Planned {
  readonly kind: "payout" | "payTwice";
  readonly payments: readonly [Payment, ...Payment[]];
  /** How long it waits for each payout; it waits to the end where this is undefined. */
  readonly withinMs: number | undefined;
}

/** An onboarding; its cardholder is known in the ledger by the e-mail, which no list shows. */
export interface PlannedOnboarding extends Planned {
  readonly kind: "onboarding";
  readonly email: string;
  /** The initial recharges that the card may have: two where the run is amended. */
  readonly card_limits: readonly [string, ...string[]];
  readonly card_name: string | undefined;
  /** Whether it undoes what it did when it fails. */
  readonly undoes: boolean;
  /** The failures by which it may end, beside an injected refusal. */
  readonly mayFailAs: readonly string[];
  /** How long it waits for the check, or for funds, where it ends by that. */
  readonly withinMs: number | undefined;
}

/** A run that is to be started, and by what its records in the ledger are known for certain. */
export type PlannedRun = PlannedPayout | PlannedOnboarding;

/** A beneficiary that exists before the first run. */
export interface ExistingBeneficiary {
  readonly id: string;
  readonly currency: string;
}

/**
 * What the account holds at first: more than all runs together can pay out, and nothing in the
 * currency of the payouts that are to be refused until it is funded.
 */
export const START_BALANCES = { USD: "5000000.00", EUR: "5000000.00", GBP: "0" } as const;

/** The currency that is funded late, and with how much. */
export const LATE_FUNDS = { currency: "GBP", amount: "5000000.00" } as const;

/** Currencies of payouts that are funded from the start. */
export const CURRENCIES = ["EUR", "USD"] as const;
