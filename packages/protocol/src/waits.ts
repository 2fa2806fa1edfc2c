// What workflows and the activities that wait say to each other. Frozen within a major version, as histories have it.

/** The activities that wait, by what they wait for. */
export const WAIT = {
  payout: "awaitPayout",
  cardholder: "awaitVerification",
  balance: "awaitFunds",
} as const;

/** Start-to-close time-out of one attempt, which looks once and records the wait: one that is lost with its worker is made again. */
export const WAIT_ATTEMPT = "2 minutes";

/** Returns the id of the activity of a wait, such as `awaitPayout:<payout_id>`: the tracker completes it by this id. */
export const waitActivityId = (name: (typeof WAIT)[keyof typeof WAIT], thing: string): string =>
  `${name}:${thing}`;

/** What every wait takes. */
interface Waiting {
  /** `look`: the service is read once, and what is open is an answer: the last look after the end of a wait. */
  readonly mode?: "look";
}

/** Input of `awaitPayout`. */
export interface PayoutWait extends Waiting {
  readonly payout_id: string;
  /** What was sent: an answer about something else is a contradiction. */
  readonly sent?: {
    readonly amount: string;
    readonly currency: string;
    readonly beneficiary_id: string;
  };
}

/** Result of `awaitPayout`; the step checks that it names its payout. */
export interface SeenPayout {
  readonly payout_id: string;
  /** `open` only in answer to a look. */
  readonly outcome: "open" | "completed" | "failed";
  /** As the service words it. */
  readonly payout_status: string;
  readonly amount?: string;
  readonly currency?: string;
  /** Short id of the payout, where the service shows it. */
  readonly short_reference?: string;
  /** What the service shows instead of what was sent, in words. */
  readonly contradiction?: string;
}

/** Input of `awaitVerification`. */
export interface CardholderWait extends Waiting {
  readonly card_holder_id: string;
}

/** Result of `awaitVerification`; the step checks that it names its cardholder. */
export interface SeenCardholder {
  readonly card_holder_id: string;
  /** `removed`: the cardholder was removed by a step of the same workflow id. */
  readonly outcome: "open" | "verified" | "refused" | "incomplete" | "removed";
  /** As the service words it; absent where it is not listed. */
  readonly card_holder_status?: string;
}

/** Input of `awaitFunds`. */
export interface FundsWait extends Waiting {
  readonly currency: string;
  /** Decimal string in units of `currency`. */
  readonly amount: string;
}

/** Result of `awaitFunds`; the step checks currency and amount. */
export interface SeenFunds {
  readonly currency: string;
  /** What is needed. */
  readonly amount: string;
  readonly outcome: "open" | "enough";
  readonly balance_id: string;
  readonly available_balance: string;
}

/** Activities that wait, by type. */
export interface WaitActivities {
  readonly awaitPayout: (wait: PayoutWait) => Promise<SeenPayout>;
  readonly awaitVerification: (wait: CardholderWait) => Promise<SeenCardholder>;
  readonly awaitFunds: (wait: FundsWait) => Promise<SeenFunds>;
}
