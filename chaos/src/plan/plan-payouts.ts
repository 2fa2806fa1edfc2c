import { drawAmount, numbered, drawIntervention, writtenAlike } from "./draw-details.ts";
import {
  CURRENCIES,
  type ExistingBeneficiary,
  LATE_FUNDS,
  type Intervention,
  type Payment,
  type PlannedPayout,
} from "./planned-run.ts";
import { Random } from "./random.ts";
import { FAILING_REFERENCE } from "../environment/simulator-timing.ts";

const dayAfter = (today: number): string => new Date(today + 86_400_000).toISOString().slice(0, 10);

const BANKS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  EUR: { bank_country: "DE", clearing_system: "SEPA", iban: "DE89370400440532013000" },
  USD: { bank_country: "US", clearing_system: "US-ACH", account_number: "000123456789" },
  GBP: { bank_country: "GB", clearing_system: "FPS", account_number: "00012345" },
};

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
  ...BANKS[currency],
  country_code: "US",
  city: "Springfield",
  state: "Illinois",
  address: "Example Street 2",
  postal_code: "62701",
});

/** What a run of payouts is like, by its place: the first ones are such that a short run has all. */
type Shape = "two alike" | "three alike" | "twice" | "unfunded" | "short" | "fails" | "plain";

const FIRST: readonly Shape[] = [
  "two alike",
  "twice",
  "unfunded",
  "three alike",
  "short",
  "unfunded",
  "fails",
];

const SHAPES: ReadonlyArray<readonly [Shape, number]> = [
  ["two alike", 5],
  ["three alike", 3],
  ["twice", 14],
  ["unfunded", 12],
  ["short", 12],
  ["fails", 4],
  ["plain", 50],
];

const drawShape = (index: number, random: Random): Shape => FIRST[index] ?? random.weighted(SHAPES);

const ALIKE: Readonly<Partial<Record<Shape, number>>> = { "two alike": 2, "three alike": 3 };

/** Shorter than a payout takes, and a little longer. */
const SHORT_MS = [1_000, 2_000, 3_000, 4_000, 5_000, 8_000] as const;

/** What is done with a payout that there is no money for at first: abandoned, retried, retried amended. */
const unfundedIntervention = (index: number, amended: string): Intervention => {
  const orders: readonly [Intervention, ...Intervention[]] = [
    { kind: "abandon", thenRetry: index % 2 === 0 },
    { kind: "retry" },
    { kind: "retry", amend: { payout: { amount: amended } } },
  ];
  return orders[index % orders.length] ?? orders[0];
};

/** Plan payouts, to new and to existing beneficiaries: see docs/chaos.md. */
export const planPayouts = (
  count: number,
  seed: number,
  existing: readonly [ExistingBeneficiary, ...ExistingBeneficiary[]],
): PlannedPayout[] => {
  const random = new Random(seed, "payouts");
  const payouts: PlannedPayout[] = [];
  const funded = existing.filter(({ currency }) => currency !== LATE_FUNDS.currency);
  const unfunded = existing.filter(({ currency }) => currency === LATE_FUNDS.currency);
  let groups = 0;
  let unfundedRuns = 0;
  while (payouts.length < count) {
    const shape = drawShape(groups, random);
    groups += 1;
    const size = Math.min(ALIKE[shape] ?? 1, count - payouts.length);
    const isKnown = size > 1 || shape === "twice" || random.chance(0.5);
    const isUnfunded = shape === "unfunded";
    const candidates = isUnfunded ? unfunded : funded;
    const known = isKnown ? candidates[random.int(0, candidates.length - 1)] : undefined;
    const currency =
      known?.currency ?? (isUnfunded ? LATE_FUNDS.currency : random.pick(CURRENCIES));
    const alone = drawAmount(random);
    const together = random.int(1, 900);
    // The balance is funded in the middle.
    const startAtMs = random.between(0, isUnfunded ? 0.4 : 1);
    const fails = shape === "fails" || (shape === "short" && random.chance(0.4));
    const isReferred = fails || random.chance(0.8);
    const withinMs = shape === "short" ? random.pick(SHORT_MS) : undefined;
    const reference = `${fails ? `${FAILING_REFERENCE} ` : ""}Invoice ${numbered(payouts.length)}`;
    for (let one = 0; one < size; one++) {
      const id = numbered(payouts.length);
      const nickname = `Supplier ${id}`;
      const amount = size === 1 ? alone : writtenAlike(together, one);
      const amended = drawAmount(random);
      const intervention = isUnfunded
        ? unfundedIntervention(unfundedRuns++, amended)
        : drawIntervention(random, payouts.length);
      const details = {
        currency,
        ...(isReferred && { payout_reference: reference }),
        payment_date: dayAfter(Date.now()),
        is_payer: "Y",
      };
      const paymentOf = (reason: string): Payment => ({
        reason,
        amounts: [
          amount,
          ...(intervention?.kind === "retry" && intervention.amend ? [amended] : []),
        ],
        currency,
        beneficiary: known === undefined ? { nickname } : { id: known.id },
        settlement: fails ? "fails" : "completes",
      });
      const base = { startAtMs, alike: size, intervention, withinMs };
      if (shape === "twice" && known !== undefined) {
        const [first, second] = [paymentOf(`Goods ${id} a`), paymentOf(`Goods ${id} b`)];
        const inputOf = ({ reason }: Payment, index: number) => ({
          ...details,
          amount: index === 0 ? amount : amount.replace(/\.(\d)0$/, ".$1"),
          beneficiary_id: known.id,
          payout_reason: reason,
        });
        payouts.push({
          ...base,
          kind: "payTwice",
          workflowId: `chaos-twice-${id}`,
          payments: [first, second],
          input: {
            first: inputOf(first, 0),
            second: inputOf(second, 1),
            options: { sideBySide: random.chance(0.5), within: "30 days" },
          },
        });
        continue;
      }
      const payment = paymentOf(`Goods ${id}`);
      payouts.push({
        ...base,
        kind: "payout",
        workflowId: `chaos-payout-${id}`,
        payments: [payment],
        input: {
          ...(known === undefined
            ? { beneficiary: beneficiary(currency, nickname) }
            : { beneficiary_id: known.id }),
          payout: { ...details, amount, payout_reason: payment.reason },
          // The tracker signals their end.
          options: {
            onRefusal: asksOnRefusal(intervention, random) ? "ask" : "fail",
            ...(withinMs !== undefined && { completeWithin: withinMs }),
          },
        },
      });
    }
  }
  return payouts;
};

const asksOnRefusal = (intervention: Intervention | undefined, random: Random): boolean =>
  intervention === undefined ? random.chance(0.5) : intervention.kind === "abandon";
