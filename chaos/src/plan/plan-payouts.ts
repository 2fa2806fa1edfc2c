import * as inputs from "@durable-payments/tools/test-data/inputs";
import { drawAmount, drawIntervention, writtenAlike } from "./draw-details.ts";
import {
  ACCOUNTS,
  type ExistingBeneficiary,
  type Intervention,
  LATE_FUNDS,
  numbered,
  type Expected,
  type PlannedRun,
} from "./planned-run.ts";
import { Random } from "./random.ts";

const dayAfter = (today: number): string => new Date(today + 86_400_000).toISOString().slice(0, 10);

const { iban, ...supplier } = inputs.beneficiary;

const BANKS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  EUR: { clearing_system: "SEPA" },
  USD: { bank_country: "US", clearing_system: "US-ACH" },
  GBP: { bank_country: "GB", clearing_system: "FPS" },
};

/** So few that some runs pay the same account, under another nickname. */
const IBANS = [iban, "DE02120300000000202051", "DE02500105170137075030"] as const;
const NUMBERS = ["00012345", "00067890", "00013579"] as const;

/** Returns the fields of createBeneficiary. */
export const beneficiary = (currency: string, index: number) => {
  const account = (currency === "EUR" ? IBANS : NUMBERS)[index % IBANS.length] ?? iban;
  return {
    ...supplier,
    nickname: `Supplier ${numbered(index)}`,
    account_currency: currency,
    ...BANKS[currency],
    ...(currency === "EUR" ? { iban: account } : { account_number: account }),
  };
};

/** Returns the account that the fields of createBeneficiary name. */
export const payeeOf = (fields: { readonly [field: string]: unknown }): string =>
  String(fields["iban"] ?? fields["account_number"]);

/** A kind of payouts. */
interface Shape {
  readonly is:
    | "plain"
    | "alike"
    | "twice"
    | "unfunded"
    | "short"
    | "fails"
    | "approval"
    | "file"
    | "wrong payee"
    | "salary";
  /** In proportion to those of the others. */
  readonly weight: number;
  /** How many are alike; default 1. */
  readonly alike?: number;
  readonly mayFailAs?: ReadonlyArray<string>;
  /** Whether only the simulator supports it: empty balances, failing payouts. */
  readonly isOfSimulator?: boolean;
}

const PLAIN: Shape = { is: "plain", weight: 50 };
/** A person uploads them as one file. */
const FILE: Shape = { is: "file", weight: 4, alike: 3 };
/** Nobody has started it, so nobody can approve it. */
const SALARY: Shape = { is: "salary", weight: 6 };
const UNFUNDED: Shape = { is: "unfunded", weight: 12, mayFailAs: ["Refused"], isOfSimulator: true };

/** A short campaign has each of them, in this order. */
const SHAPES: ReadonlyArray<Shape> = [
  { is: "alike", weight: 5, alike: 2 },
  { is: "twice", weight: 14 },
  SALARY,
  FILE,
  UNFUNDED,
  { is: "alike", weight: 3, alike: 3 },
  { is: "short", weight: 10, mayFailAs: ["PayoutStillOpen"] },
  { ...UNFUNDED, weight: 0 },
  { is: "fails", weight: 4, isOfSimulator: true },
  { is: "approval", weight: 6 },
  { is: "wrong payee", weight: 2, mayFailAs: ["Refused"] },
  PLAIN,
];

/** Shorter than a payout takes, and a little longer. */
const SHORT_MS = [1_000, 2_000, 4_000, 8_000] as const;

/** A beneficiary that the service does not know: an approval waits for who it is. */
const NOBODY = "no-such-beneficiary";

/** Now and then a person cancels a file, by its first row: before its approval, while its rows pay, or after it. */
const fileIntervention = (random: Random, isFirst: boolean): Intervention | undefined =>
  isFirst && random.chance(0.2)
    ? { kind: "cancel file", afterMs: random.int(2_000, 15_000) }
    : undefined;

/** A person notices it, and ends the payout or terminates its run and amends it. */
const mistakenIntervention = (random: Random, amend: object): Intervention => {
  const afterMs = random.int(3_000, 9_000);
  return random.chance(0.5)
    ? { kind: "end", afterMs, isForced: true }
    : { kind: "terminate", afterMs, amend };
};

/** The intervention in a payout whose balance is empty at first. */
const unfundedIntervention = (index: number, amend: object): Intervention =>
  index % 3 === 0
    ? { kind: "end", afterMs: 4_000, isForced: false }
    : { kind: "retry", ...(index % 3 === 2 && { amend }) };

/** Plans payouts, to new and to existing beneficiaries. */
export const planPayouts = (
  count: number,
  seed: number,
  {
    existing,
    isSimulator,
  }: { readonly existing: ReadonlyArray<ExistingBeneficiary>; readonly isSimulator: boolean },
): ReadonlyArray<PlannedRun> => {
  const random = new Random(seed, "payouts");
  const firstAccount = new Random(seed, "accounts of payouts").int(0, 1);
  const payouts: Array<PlannedRun> = [];
  let unfundedRuns = 0;
  for (let group = 0; payouts.length < count; group++) {
    const drawn = random.weighted(SHAPES.map((one) => [one, one.weight] as const));
    const wanted = SHAPES[group] ?? drawn;
    const shape = !isSimulator && wanted.isOfSimulator ? PLAIN : wanted;
    const alike = Math.min(shape.alike ?? 1, count - payouts.length);
    const isUnfunded = shape.is === "unfunded";
    const isTwice = shape.is === "twice";
    const isSalary = shape.is === "salary";
    const isFile = shape.is === "file";
    const isMistaken = shape.is === "wrong payee";
    const account = ACCOUNTS[(firstAccount + group) % ACCOUNTS.length];
    const known = existing.filter(
      (one) => one.account === account && (one.currency === LATE_FUNDS.currency) === isUnfunded,
    );
    const isKnown = alike > 1 || isTwice || isSalary || isMistaken || random.chance(0.5);
    const chosen = random.int(0, known.length - 1);
    const payee = isKnown ? known[chosen] : undefined;
    const other = isKnown ? known[(chosen + 1) % known.length] : undefined;
    const drawnCurrency = isUnfunded ? LATE_FUNDS.currency : random.pick(["EUR", "USD"]);
    const currency = payee?.currency ?? drawnCurrency;
    const drawnAmount = drawAmount(random);
    const alone = isSalary ? `${random.int(1, 499)}.50` : drawnAmount;
    const together = random.int(1, 900);
    // The balance is funded in the middle.
    const startAtMs = random.between(0, isUnfunded ? 0.4 : 1);
    const isNamed = random.chance(0.8);
    const reference = `Invoice ${numbered(payouts.length)}`;
    for (let one = 0; one < alike; one++) {
      const id = numbered(payouts.length);
      const amount = alike === 1 ? alone : writtenAlike(together, one);
      const amended = drawAmount(random);
      const toOther = other !== undefined && { beneficiary_id: other.id };
      const intervention = isUnfunded
        ? unfundedIntervention(unfundedRuns++, { payout: { amount: amended }, ...toOther })
        : isMistaken
          ? mistakenIntervention(random, { beneficiary_id: payee?.id })
          : isFile || isSalary
            ? fileIntervention(random, isFile && one === 0)
            : drawIntervention(random, payouts.length);
      const isAmended = intervention?.kind === "retry" && intervention.amend !== undefined;
      const created = beneficiary(currency, payouts.length);
      // The last row of a file fails at the service.
      const isFailing = shape.is === "fails" || (isFile && isSimulator && one === alike - 1);
      const details = {
        currency,
        payment_date: dayAfter(Date.now()),
        is_payer: "Y",
        ...(isFailing && { payout_reference: `FAIL ${reference}` }),
        ...(!isFailing && isNamed && { payout_reference: reference }),
      };
      const ids = [
        payee,
        ...(isAmended ? [other] : []),
        ...(isMistaken ? [{ id: NOBODY }] : []),
      ].flatMap((to) => (to ? [{ id: to.id }] : []));
      const paymentOf = (step: string, mark: string): Expected => ({
        operation: "createPayout",
        step,
        mark,
        amounts: isAmended ? [amount, amended] : [amount],
        currency,
        beneficiaries: payee === undefined ? [{ payee: payeeOf(created) }] : ids,
      });
      const mayFailAs = [...(shape.mayFailAs ?? []), ...(isFailing ? ["PayoutFailed"] : [])];
      const base = { account, startAtMs, alike, intervention, mayFailAs };
      const ofAccount = account === undefined ? {} : { account };
      if (isTwice && payee !== undefined) {
        const [first, second] = [`Goods ${id} a`, `Goods ${id} b`];
        const paid = { ...details, beneficiary_id: payee.id };
        payouts.push({
          ...base,
          kind: "payTwice",
          workflowId: `chaos-twice-${id}`,
          makes: [paymentOf("first", first), paymentOf("second", second)],
          input: {
            first: { ...paid, amount, payout_reason: first },
            second: { ...paid, amount: amount.replace(/\.(\d)0$/, ".$1"), payout_reason: second },
            ...ofAccount,
            sideBySide: random.chance(0.5),
          },
        });
        continue;
      }
      const payment = paymentOf("createPayout", `Goods ${id}`);
      const decision = random.chance(0.25) ? "reject" : "approve";
      const approval = isMistaken ? "approve" : shape.is === "approval" ? decision : undefined;
      const paidTo = isMistaken ? NOBODY : payee?.id;
      payouts.push({
        ...base,
        kind: isSalary ? "paySalary" : "payout",
        workflowId: isFile || isSalary ? `payout/chaos-${id}` : `chaos-payout-${id}`,
        file: isFile ? `file-${group}` : undefined,
        makes: [payment],
        approval,
        input: {
          ...ofAccount,
          ...(paidTo === undefined ? { beneficiary: created } : { beneficiary_id: paidTo }),
          payout: { ...details, amount, payout_reason: payment.mark },
          options: {
            ...(shape.is === "short" && { completeWithin: random.pick(SHORT_MS) }),
            ...(approval !== undefined && { approval: { above: "0.50" } }),
          },
        },
      });
    }
  }
  return payouts;
};
