/** An action of people, or of Temporal's own tools, on a run. */
export type Intervention =
  /** A person ends it for good; then it is tried again in several ways, none of which may pay. */
  | { readonly kind: "end"; readonly afterMs: number; readonly isForced: boolean }
  /** A person cancels the file of the run, with the rows that have started. */
  | { readonly kind: "cancel file"; readonly afterMs: number }
  /** Every question of the run is answered by an end; if it asks nothing, it completes. */
  | { readonly kind: "end by answer" }
  /** A person ends it, and another one overrules that: it pays once. */
  | { readonly kind: "overruled"; readonly afterMs: number }
  /** By Temporal's own tools, which decide nothing about money: a retry pays once. */
  | { readonly kind: "cancel" | "reset"; readonly afterMs: number }
  | { readonly kind: "terminate"; readonly afterMs: number; readonly amend?: object }
  /** The id is started again by a client without any plugin, once its run has ended. */
  | { readonly kind: "start again" }
  | { readonly kind: "retry"; readonly amend?: object };

/** The workflow types of runs; src/worker/pay-twice.ts has the last two. */
export const KINDS = ["payout", "onboardCardholder", "payTwice", "paySalary"] as const;

/** The accounts that pay, each at a service of its own: the unnamed one, and a named one. */
export const ACCOUNTS = [undefined, "eu"] as const;

/** A payout, cardholder or card that a service has made. */
export interface Made {
  readonly operation: "createPayout" | "createCardholder" | "createCard";
  readonly id: string;
  /** When, by the clock of this machine, in milliseconds since 1970. */
  readonly at: number;
  /** Tells its run: the reason of a payout, or the cardholder's e-mail. */
  readonly mark: string;
  /** Whether its money was returned, or it was removed or cancelled. */
  readonly isUndone: boolean;
  /** The amount taken from a balance; a cardholder takes none. */
  readonly amount: string;
  readonly currency: string;
  /** The status of a payout; a write that is made at once is always `completed`. */
  readonly status: string;
  /** The beneficiary of a payout. */
  readonly payee?: string;
}

/** A write that a run makes once. Its record at the service is known for certain by the mark. */
export interface Expected extends Pick<Made, "operation" | "mark" | "currency"> {
  /** The amounts that it may have: more than one if the run is amended. */
  readonly amounts: ReadonlyArray<string>;
  /** The step of a payout in the run. */
  readonly step?: string;
  /**
   * The beneficiary of a payout: known by its id, or by its account, as beneficiaries of one account are reused. More than
   * one if the run is amended.
   */
  readonly beneficiaries?: ReadonlyArray<{ readonly id: string } | { readonly payee: string }>;
}

/**
 * A run that is to be started: it pays once (`payout`) or twice (`payTwice`), is a business key that two Schedules pay
 * (`paySalary`), or onboards a cardholder.
 */
export interface PlannedRun {
  readonly kind: (typeof KINDS)[number];
  readonly workflowId: string;
  readonly account: string | undefined;
  readonly startAtMs: number;
  /** How many runs start at this moment and make what no list distinguishes; 1 for most. */
  readonly alike: number;
  /** The file that it is a row of. */
  readonly file?: string | undefined;
  readonly input: object;
  readonly makes: ReadonlyArray<Expected>;
  /** Whether it undoes what it did when it fails. */
  readonly undoes?: boolean;
  /** A second person decides: approves, or rejects. */
  readonly approval?: "approve" | "reject" | undefined;
  readonly intervention: Intervention | undefined;
  /** The failures that are allowed in addition to an injected refusal and those of its intervention. */
  readonly mayFailAs: ReadonlyArray<string>;
}

/** A beneficiary that exists before the first run. */
export interface ExistingBeneficiary {
  readonly account: string | undefined;
  readonly id: string;
  readonly currency: string;
}

/** The currency that is empty at first, and the amount that funds it in the middle. */
export const LATE_FUNDS = { currency: "GBP", amount: "5000000.00" } as const;

/** The initial balances: more than all runs together pay, and nothing in the late currency. */
export const START_BALANCES: Readonly<Record<string, string>> = {
  USD: "5000000.00",
  EUR: "5000000.00",
  [LATE_FUNDS.currency]: "0",
};

const inEach = (amount: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.keys(START_BALANCES).map((currency) => [currency, amount]));

/** Above these amounts a second person approves. */
export const POLICY = inEach("600.00");

/** Stricter ones, for a while in the middle of a campaign. */
export const STRICT = inEach("500.00");

/** Numbers from 0001, for the index 0. */
export const numbered = (index: number): string => String(index + 1).padStart(4, "0");
