import { Random } from "./random.ts";

interface Planned {
  readonly workflowId: string;
  readonly startAtMs: number;
  /** How many runs start at this moment and make what a list cannot tell apart; 1 for most. */
  readonly alike: number;
  readonly input: object;
}

/** A payout run; its payout is known in the ledger by the reason, which no look-up reads. */
export interface PlannedPayout extends Planned {
  readonly kind: "payout";
  readonly reason: string;
  readonly amount: string;
  readonly currency: string;
  /** Known by its id, or by the nickname of the one that the run creates. */
  readonly beneficiary: { readonly id: string } | { readonly nickname: string };
}

/** An onboarding; its cardholder is known in the ledger by the e-mail, which no list shows. */
export interface PlannedOnboarding extends Planned {
  readonly kind: "onboarding";
  readonly email: string;
  readonly card_limit: string;
  readonly card_name: string | undefined;
  /** Whether it undoes what it did when it fails. */
  readonly undoes: boolean;
}

/** A run that is to be started, and by what its traces in the ledger are known for certain. */
export type PlannedRun = PlannedPayout | PlannedOnboarding;

/** A beneficiary that exists before the first run. */
export interface ExistingBeneficiary {
  readonly id: string;
  readonly currency: string;
}

/** What the account holds at first: more than all runs together can pay out. */
export const START_BALANCES = { USD: "5000000.00", EUR: "5000000.00" } as const;

export const CURRENCIES = ["EUR", "USD"] as const;

/** Starts are spread over this time for each run. */
const START_EVERY_MS = 300;

/** Time in which all runs are started. */
export const startingTimeMs = (runs: number): number => Math.max(8_000, runs * START_EVERY_MS);

const POLL = { pollInterval: { min: "1 second", max: "5 seconds" } };

const dayAfter = (today: number): string => new Date(today + 86_400_000).toISOString().slice(0, 10);

/** The fields of createBeneficiary. */
export const beneficiary = (currency: string, nickname: string) => ({
  entity_type: "company",
  email: "accounts@example.com",
  nickname,
  company_name: "Example Supplies Ltd",
  payment_method: "local",
  bank_name: "Example Bank",
  bank_address: "Example Street 1",
  account_holder: "Example Supplies Ltd",
  account_currency: currency,
  ...(currency === "EUR"
    ? { bank_country: "DE", clearing_system: "SEPA", iban: "DE89370400440532013000" }
    : { bank_country: "US", clearing_system: "US-ACH", account_number: "000123456789" }),
  country_code: "US",
  city: "Springfield",
  state: "Illinois",
  address: "Example Street 2",
  postal_code: "62701",
});

const amount = (random: Random): string =>
  `${random.int(1, 900)}.${String(random.int(0, 99)).padStart(2, "0")}`;

/** The same amount in another writing, for each second of those that are alike: "12.5", "12.50". */
const written = (whole: number, index: number): string =>
  index % 2 === 0 ? `${whole}.50` : `${whole}.5`;

const number = (index: number): string => String(index + 1).padStart(4, "0");

/** How many payouts pay the same: mostly one, a few times two or three at the same moment. */
const sizeOfGroup = (index: number, left: number, random: Random): number => {
  // The first ones are such, so that a short run has them too.
  const size = index === 0 ? 2 : index === 2 ? 3 : random.chance(0.1) ? random.int(2, 3) : 1;
  return Math.min(size, left);
};

const planPayouts = (
  count: number,
  seed: number,
  existing: readonly [ExistingBeneficiary, ...ExistingBeneficiary[]],
): PlannedPayout[] => {
  const random = new Random(seed, "payouts");
  const payouts: PlannedPayout[] = [];
  while (payouts.length < count) {
    const size = sizeOfGroup(payouts.length, count - payouts.length, random);
    const known = size > 1 || random.chance(0.5) ? random.pick(existing) : undefined;
    const currency = known?.currency ?? random.pick(CURRENCIES);
    const alone = amount(random);
    const together = random.int(1, 900);
    const startAtMs = random.between(0, 1);
    const isReferred = random.chance(0.8);
    const reference = `Invoice ${number(payouts.length)}`;
    for (let one = 0; one < size; one++) {
      const id = number(payouts.length);
      const nickname = `Supplier ${id}`;
      const payout = {
        currency,
        amount: size === 1 ? alone : written(together, one),
        payout_reason: `Goods ${id}`,
        ...(isReferred && { payout_reference: reference }),
        payment_date: dayAfter(Date.now()),
        is_payer: "Y",
      };
      payouts.push({
        kind: "payout",
        workflowId: `chaos-payout-${id}`,
        startAtMs,
        alike: size,
        reason: payout.payout_reason,
        amount: payout.amount,
        currency,
        beneficiary: known === undefined ? { nickname } : { id: known.id },
        input: {
          ...(known === undefined
            ? { beneficiary: beneficiary(currency, nickname) }
            : { beneficiary_id: known.id }),
          payout,
          // Their end is told by the tracker.
          options: { onRefusal: random.chance(0.5) ? "ask" : "fail" },
        },
      });
    }
  }
  return payouts;
};

const planOnboardings = (count: number, seed: number): PlannedOnboarding[] => {
  const random = new Random(seed, "onboardings");
  const onboardings: PlannedOnboarding[] = [];
  while (onboardings.length < count) {
    const left = count - onboardings.length;
    // The first two have the same name, and a few others: a list cannot tell them apart.
    const size = onboardings.length === 0 || random.chance(0.06) ? Math.min(2, left) : 1;
    const startAtMs = random.between(0, 1);
    const last_name = `Example-${number(onboardings.length)}`;
    for (let one = 0; one < size; one++) {
      const id = number(onboardings.length);
      const email = `person-${id}@example.com`;
      const card_limit = amount(random);
      const card_name = random.chance(0.3) ? `Card ${id}` : undefined;
      const undoes = random.chance(0.5);
      onboardings.push({
        kind: "onboarding",
        workflowId: `chaos-onboarding-${id}`,
        startAtMs,
        alike: size,
        email,
        card_limit,
        card_name,
        undoes,
        input: {
          cardholder: {
            email,
            first_name: "Ada",
            last_name,
            // A list does not tell people of the same name apart by their birthdays.
            date_birth: one === 0 ? "1990-04-12" : "1985-01-31",
            phone_number: "+4930123456",
            card_holder_status: 0,
          },
          card: {
            product_code: "prepaid-usd",
            card_limit,
            ...(card_name !== undefined && { card_name }),
          },
          options: {
            ...POLL,
            onRefusal: random.chance(0.5) ? "ask" : "fail",
            onFailure: undoes ? "compensate" : "keep",
          },
        },
      });
    }
  }
  return onboardings;
};

/** Every run of a chaos run: half onboardings, half payouts, in the order in which they start. */
export const planRuns = (
  { runs, seed }: { readonly runs: number; readonly seed: number },
  existing: readonly [ExistingBeneficiary, ...ExistingBeneficiary[]],
): readonly PlannedRun[] => {
  const onboardings = Math.floor(runs / 2);
  const spreadMs = startingTimeMs(runs);
  return [...planOnboardings(onboardings, seed), ...planPayouts(runs - onboardings, seed, existing)]
    .map((run) => ({ ...run, startAtMs: Math.round(run.startAtMs * spreadMs) }))
    .toSorted((one, other) => one.startAtMs - other.startAtMs);
};
