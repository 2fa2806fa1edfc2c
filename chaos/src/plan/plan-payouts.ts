import { drawAmount, drawIntervention, writtenAlike } from "./draw-details.ts";
import {
  type ExistingBeneficiary,
  type Intervention,
  LATE_FUNDS,
  numbered,
  type Payment,
  type PlannedPayout,
} from "./planned-run.ts";
import { Random } from "./random.ts";

const dayAfter = (today: number): string => new Date(today + 86_400_000).toISOString().slice(0, 10);

const BANKS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  EUR: { bank_country: "DE", clearing_system: "SEPA", iban: "DE89370400440532013000" },
  USD: { clearing_system: "US-ACH", account_number: "000123456789" },
  GBP: { bank_country: "GB", clearing_system: "FPS", account_number: "00012345" },
};

/** Returns the fields of createBeneficiary. */
export const beneficiary = (currency: string, nickname: string) => ({
  entity_type: "company" as const,
  email: "accounts@example.com",
  nickname,
  company_name: "Example Supplies Ltd",
  payment_method: "local" as const,
  bank_name: "Example Bank",
  bank_address: "Example Street 1",
  account_holder: "Example Supplies Ltd",
  account_currency: currency,
  bank_country: "US",
  ...BANKS[currency],
  country_code: "US",
  city: "Springfield",
  state: "Illinois",
  address: "Example Street 2",
  postal_code: "62701",
});

type Shape =
  | "two alike"
  | "three alike"
  | "twice"
  | "unfunded"
  | "short"
  | "fails"
  | "approval"
  | "plain";

/** The first ones are such that a short campaign has all. */
const FIRST: ReadonlyArray<Shape> = [
  "two alike",
  "twice",
  "unfunded",
  "three alike",
  "short",
  "unfunded",
  "fails",
  "approval",
];

const SHAPES: ReadonlyArray<readonly [Shape, number]> = [
  ["two alike", 5],
  ["three alike", 3],
  ["twice", 14],
  ["unfunded", 12],
  ["short", 10],
  ["fails", 4],
  ["approval", 6],
  ["plain", 50],
];

const ALIKE: Readonly<Partial<Record<Shape, number>>> = { "two alike": 2, "three alike": 3 };

/** Shapes that only the simulator supports: empty balances, failing payouts. */
const OF_SIMULATOR: ReadonlySet<Shape> = new Set(["unfunded", "fails"]);

/** Shorter than a payout takes, and a little longer. */
const SHORT_MS = [1_000, 2_000, 4_000, 8_000] as const;

const MAY_FAIL: Readonly<Partial<Record<Shape, ReadonlyArray<string>>>> = {
  unfunded: ["Refused"],
  short: ["PayoutStillOpen"],
  fails: ["PayoutFailed"],
};

/** The intervention in a payout whose balance is empty at first. */
const unfundedIntervention = (index: number, amended: string): Intervention =>
  index % 3 === 0
    ? { kind: "end", afterMs: 4_000, isForced: false }
    : index % 3 === 1
      ? { kind: "retry" }
      : { kind: "retry", amend: { payout: { amount: amended } } };

/** Plans payouts, to new and to existing beneficiaries. */
export const planPayouts = (
  count: number,
  seed: number,
  {
    existing,
    isSimulator,
  }: { readonly existing: ReadonlyArray<ExistingBeneficiary>; readonly isSimulator: boolean },
): ReadonlyArray<PlannedPayout> => {
  const random = new Random(seed, "payouts");
  const payouts: Array<PlannedPayout> = [];
  let groups = 0;
  let unfundedRuns = 0;
  while (payouts.length < count) {
    const drawn = random.weighted(SHAPES);
    const wanted = FIRST[groups] ?? drawn;
    const shape = !isSimulator && OF_SIMULATOR.has(wanted) ? "plain" : wanted;
    groups += 1;
    const size = Math.min(ALIKE[shape] ?? 1, count - payouts.length);
    const isUnfunded = shape === "unfunded";
    const known = existing.filter(
      ({ currency }) => (currency === LATE_FUNDS.currency) === isUnfunded,
    );
    const [anyKnown, currencyDrawn] = [
      random.int(0, known.length - 1),
      random.pick(["EUR", "USD"]),
    ];
    const isKnown = size > 1 || shape === "twice" || random.chance(0.5);
    const payee = isKnown ? known[anyKnown] : undefined;
    const currency = payee?.currency ?? (isUnfunded ? LATE_FUNDS.currency : currencyDrawn);
    const [alone, together] = [drawAmount(random), random.int(1, 900)];
    // The balance is funded in the middle.
    const startAtMs = random.between(0, isUnfunded ? 0.4 : 1);
    const isReferred = shape === "fails" || random.chance(0.8);
    const withinMs = shape === "short" ? random.pick(SHORT_MS) : undefined;
    const reference = `${shape === "fails" ? "FAIL " : ""}Invoice ${numbered(payouts.length)}`;
    for (let one = 0; one < size; one++) {
      const id = numbered(payouts.length);
      const amount = size === 1 ? alone : writtenAlike(together, one);
      const amended = drawAmount(random);
      const intervention = isUnfunded
        ? unfundedIntervention(unfundedRuns++, amended)
        : drawIntervention(random, payouts.length);
      const isAmended = intervention?.kind === "retry" && intervention.amend !== undefined;
      const details = {
        currency,
        ...(isReferred && { payout_reference: reference }),
        payment_date: dayAfter(Date.now()),
        is_payer: "Y",
      };
      const nickname = `Supplier ${id}`;
      const paymentOf = (step: string, reason: string): Payment => ({
        step,
        reason,
        amounts: isAmended ? [amount, amended] : [amount],
        currency,
        beneficiary: payee === undefined ? { nickname } : { id: payee.id },
      });
      const base = { startAtMs, alike: size, intervention, mayFailAs: MAY_FAIL[shape] ?? [] };
      if (shape === "twice" && payee !== undefined) {
        const inputOf = (reason: string, written: string) => ({
          ...details,
          amount: written,
          beneficiary_id: payee.id,
          payout_reason: reason,
        });
        const [first, second] = [`Goods ${id} a`, `Goods ${id} b`];
        payouts.push({
          ...base,
          kind: "payTwice",
          workflowId: `chaos-twice-${id}`,
          payments: [paymentOf("first", first), paymentOf("second", second)],
          approval: undefined,
          input: {
            first: inputOf(first, amount),
            second: inputOf(second, amount.replace(/\.(\d)0$/, ".$1")),
            sideBySide: random.chance(0.5),
          },
        });
        continue;
      }
      const payment = paymentOf("createPayout", `Goods ${id}`);
      const approval =
        shape === "approval" ? (random.chance(0.25) ? "reject" : "approve") : undefined;
      payouts.push({
        ...base,
        kind: "payout",
        workflowId: `chaos-payout-${id}`,
        payments: [payment],
        approval,
        input: {
          ...(payee === undefined
            ? { beneficiary: beneficiary(currency, nickname) }
            : { beneficiary_id: payee.id }),
          payout: { ...details, amount, payout_reason: payment.reason },
          options: {
            ...(withinMs !== undefined && { completeWithin: withinMs }),
            ...(approval !== undefined && { approval: { above: "0.50" } }),
          },
        },
      });
    }
  }
  return payouts;
};
