import type {
  CreateBeneficiaryInput,
  CreateCardholderInput,
  CreatePayoutInput,
  Fault,
} from "@durable-payments/client/effect";
import { cleanText, isRecord, keyFault } from "@durable-payments/client/values";
import { msToNumber } from "@temporalio/common/lib/time.js";
import { ACCOUNT_NAME } from "./names.ts";

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

/** A payout to an existing beneficiary or to a new one: exactly one of the two. */
export type PayoutInput = (
  | { readonly beneficiary: CreateBeneficiaryInput }
  | { readonly beneficiary_id: string }
) & {
  readonly payout: Omit<CreatePayoutInput, "beneficiary_id" | "unique_request_id">;
  /** Name of the account that pays, one of the worker's; default: the unnamed account. */
  readonly account?: string;
  /** Business key: what was made under it once is never made again, whichever workflow asks. */
  readonly key?: string;
  readonly options?: PayoutOptions;
};

/** Options of a payout run. */
export interface PayoutOptions {
  /** A beneficiary whose response was lost is created again, or a person is asked. Default: `recreate`. */
  readonly onLostBeneficiary?: "recreate" | "ask";
  /** Amounts above this need a second person's approval: a decimal string in the payout's currency. */
  readonly approval?: { readonly above: string };
  /** Longest time to wait for completion. Default: 30 days. */
  readonly completeWithin?: Duration;
}

/** A completed payout; fields that the service does not show are null. */
export interface PayoutResult {
  /** The service's id of the payout. */
  readonly payout_id: string;
  /** Short reference, such as `P261121-AB12CD34`. */
  readonly short_reference: string | null;
  /** Status as the service words it. */
  readonly payout_status: string;
  /** Decimal string in units of `currency`. */
  readonly amount: string | null;
  /** Three-letter code (ISO 4217). */
  readonly currency: string | null;
}

/** A card for an existing cardholder or for a new one. */
export type OnboardCardholderInput = (
  | { readonly cardholder: CreateCardholderInput }
  | { readonly card_holder_id: string }
) & {
  readonly card: {
    readonly product_code: string;
    /** Initial recharge in USD, a decimal string. */
    readonly card_limit: string;
    /** Names the card, which also shows that it exists. */
    readonly card_name?: string;
  };
  /** Name of the account that pays, one of the worker's; default: the unnamed account. */
  readonly account?: string;
  /** Business key: what was made under it once is never made again, whichever workflow asks. */
  readonly key?: string;
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

/** The issued card and its cardholder. */
export interface OnboardCardholderResult {
  /** The service's id of the cardholder. */
  readonly card_holder_id: string;
  /** The service's id of the card. */
  readonly card_id: string;
  /** Status of the card as the service words it. */
  readonly card_status: string | null;
  /** The USD balance that funded the card. */
  readonly balance_id: string;
  /** Initial recharge in USD: a decimal string. */
  readonly card_limit: string;
}

// The rules of the inputs of payouts and onboardings. Tools check them before a run starts, the run before it sends.

/** The rule of a field, in words and as a check; an object lists its fields, optional ones with a `?`. */
type Wanted =
  | readonly [wanted: string, isIt: (value: unknown) => boolean]
  | { readonly [field: string]: Wanted };

/** Returns a length of time in milliseconds; undefined if Temporal does not read it. */
export const readDuration = (given: string | number): number | undefined => {
  try {
    // Any text that Temporal reads; the type lists its units.
    return msToNumber(given as Parameters<typeof msToNumber>[0]);
  } catch {
    return undefined;
  }
};

/** A hundred years: gRPC, Temporal and JavaScript can each count that far. */
const LONGEST_MS = 100 * 365 * 86_400_000;

/** Checks whether a value is a duration of at least a millisecond, as Temporal reads it. */
export const isDuration = (value: unknown): value is Duration => {
  if (typeof value !== "string" && typeof value !== "number") return false;
  const ms = readDuration(value) ?? 0;
  return ms >= 1 && ms <= LONGEST_MS;
};

const isAccountName = (value: unknown): boolean =>
  typeof value === "string" && ACCOUNT_NAME.test(value);

/** Checks whether a value is an amount: a decimal string, zero or above, without sign or exponent. */
export const isAmount = (value: unknown): boolean =>
  typeof value === "string" && /^(0|[1-9]\d*)(\.\d+)?$/.test(value);

/** The rule of a key, for messages. */
export const KEY_RULE = "1 to 200 visible characters, and no quotes or backslashes";

/** Checks whether a value can be a business key. Two keys that look alike are one, so invisible characters are refused. */
export const isKey = (key: unknown): key is string =>
  typeof key === "string" && keyFault(cleanText(key)) === undefined;

const text: Wanted = ["a text", (value) => typeof value === "string" && value.trim() !== ""];
const amount: Wanted = ['an amount, such as "250.00"', isAmount];
const duration: Wanted = ['a duration, such as "7 days"', isDuration];
const account: Wanted = ["an account's name: lower-case letters, digits, dashes", isAccountName];
const key: Wanted = [`a key: ${KEY_RULE}`, isKey];
/** The request of a step, which the contract checks, or what an activity parses. */
const object: Wanted = ["an object", isRecord];
const list: Wanted = ["a list", Array.isArray];
const number: Wanted = ["a number", Number.isFinite];

const oneOf = (...words: ReadonlyArray<string>): Wanted => [
  words.join(" or "),
  (value) => words.includes(String(value)),
];

/** The workflows whose inputs are checked. */
type CheckedWorkflow = "payout" | "onboardCardholder" | "runBatch" | "tracker";

/** The inputs of the workflows, some with two fields of which they have exactly one. */
const INPUTS: Readonly<
  Record<CheckedWorkflow, { readonly either?: readonly [string, string]; readonly fields: Wanted }>
> = {
  payout: {
    either: ["beneficiary", "beneficiary_id"],
    fields: {
      "beneficiary?": object,
      "beneficiary_id?": text,
      payout: object,
      "account?": account,
      "key?": key,
      "options?": {
        "approval?": { above: amount },
        "completeWithin?": duration,
        "onLostBeneficiary?": oneOf("recreate", "ask"),
      },
    },
  },
  onboardCardholder: {
    either: ["cardholder", "card_holder_id"],
    fields: {
      "cardholder?": object,
      "card_holder_id?": text,
      card: { product_code: text, card_limit: amount, "card_name?": text },
      "account?": account,
      "key?": key,
      "options?": {
        "onFailure?": oneOf("keep", "compensate"),
        "verifyWithin?": duration,
        "fundWithin?": duration,
      },
    },
  },
  runBatch: {
    fields: { batch: text, startedBy: text, window: number, "rate?": number, rows: list },
  },
  tracker: { fields: { account: text, "name?": account, "known?": object } },
};

const isList = (wanted: Wanted): wanted is Extract<Wanted, ReadonlyArray<unknown>> =>
  Array.isArray(wanted);

const faultsOf = (value: unknown, wanted: Wanted, at: string): ReadonlyArray<Fault> => {
  const missing = value === undefined ? "is missing: it " : "";
  const not = (words: string) => [{ field: at, problem: `${missing}must be ${words}` }];
  if (isList(wanted)) return wanted[1](value) ? [] : not(wanted[0]);
  if (!isRecord(value)) return not("an object");
  const under = (name: string) => (at === "" ? name : `${at}.${name}`);
  const known = Object.entries(wanted).flatMap(([key, of]) => {
    const field = key.replace("?", "");
    const isLeftOut = field !== key && value[field] === undefined;
    return isLeftOut ? [] : faultsOf(value[field], of, under(field));
  });
  const unknown = Object.keys(value).filter(
    (name) => !Object.hasOwn(wanted, name) && !Object.hasOwn(wanted, `${name}?`),
  );
  return [...known, ...unknown.map((name) => ({ field: under(name), problem: "is unknown" }))];
};

/** Returns every fault of a workflow's input, except those of its requests. */
export const inputFaults = (workflow: CheckedWorkflow, input: unknown): ReadonlyArray<Fault> => {
  const { either, fields } = INPUTS[workflow];
  const [one = "", other = ""] = either ?? [];
  const isBoth =
    either && isRecord(input) && (input[one] === undefined) === (input[other] === undefined);
  const choice = { field: one, problem: `or ${other} is required, but not both` };
  return [...(isBoth ? [choice] : []), ...faultsOf(input, fields, "")];
};
