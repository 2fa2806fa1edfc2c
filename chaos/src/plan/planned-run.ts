/** An action of people, or of Temporal's own tools, on a run. */
export type Intervention =
  /** A person ends it for good; then it is tried again in several ways, none of which may pay. */
  | { readonly kind: "end"; readonly afterMs: number; readonly isForced: boolean }
  /** Every question of the run is answered by an end; if it asks nothing, it completes. */
  | { readonly kind: "end by answer" }
  /** A person ends it, and another one overrules that: it pays once. */
  | { readonly kind: "overruled"; readonly afterMs: number }
  /** By Temporal's own tools, which decide nothing about money: a retry pays once. */
  | { readonly kind: "cancel" | "terminate" | "reset"; readonly afterMs: number }
  /** The id is started again by a client without any plugin, once its run has ended. */
  | { readonly kind: "start again" }
  | { readonly kind: "retry"; readonly amend?: object };

/** The workflow types of runs; src/worker/pay-twice.ts has the last two. */
export const KINDS = ["payout", "onboardCardholder", "payTwice", "paySalary"] as const;

/** The accounts that pay, each at a service of its own: the unnamed one, and a named one. */
export const ACCOUNTS = [undefined, "eu"] as const;

interface Planned {
  readonly kind: (typeof KINDS)[number];
  readonly workflowId: string;
  readonly account: string | undefined;
  readonly startAtMs: number;
  /** How many runs start at this moment and make what no list distinguishes; 1 for most. */
  readonly alike: number;
  /** The file that it is a row of. */
  readonly file?: string | undefined;
  readonly input: object;
  readonly intervention: Intervention | undefined;
  /** The failures that are allowed in addition to an injected refusal and those of its intervention. */
  readonly mayFailAs: ReadonlyArray<string>;
}

/** A payment of a run; its payout is known in the service's ledger by the reason, which is unique. */
export interface Payment {
  readonly step: string;
  readonly reason: string;
  /** The amounts that it may have: more than one if the run is amended. */
  readonly amounts: readonly [string, ...Array<string>];
  readonly currency: string;
  /** Known by its id, or by its account: beneficiaries of one account are reused. */
  readonly beneficiary: { readonly id: string } | { readonly payee: string };
}

/** A run that pays once (`payout`) or twice (`payTwice`), or a business key that two Schedules pay (`paySalary`). */
export interface PlannedPayout extends Planned {
  readonly kind: "payout" | "payTwice" | "paySalary";
  readonly payments: readonly [Payment, ...Array<Payment>];
  /** A second person decides: approves, or rejects. */
  readonly approval: "approve" | "reject" | undefined;
}

/** An onboarding; its cardholder is known in the service's ledger by the e-mail, which no list shows. */
export interface PlannedOnboarding extends Planned {
  readonly kind: "onboardCardholder";
  readonly email: string;
  /** The first recharges that the card may have: two if the run is amended. */
  readonly cardLimits: ReadonlyArray<string>;
  /** Whether it undoes what it did when it fails. */
  readonly undoes: boolean;
}

/** A run that is to be started, and by what its records at the service are known for certain. */
export type PlannedRun = PlannedPayout | PlannedOnboarding;

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
