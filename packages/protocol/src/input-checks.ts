import { msToNumber } from "@temporalio/common/lib/time.js";

// What the inputs of payouts and onboardings must be: the tools check it before a run is started, the run before it sends.

/** What a field must be, in words, and whether it is; an object lists its fields, a `?` after what may be left out. */
type Wanted =
  | readonly [wanted: string, isIt: (value: unknown) => boolean]
  | { readonly [field: string]: Wanted };

/** Something that is wrong with a field of an input, by its path. */
interface InputFault {
  readonly field: string;
  readonly problem: string;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isDuration = (value: unknown): boolean => {
  if (typeof value !== "string" && typeof value !== "number") return false;
  try {
    // Any text that Temporal reads; the type lists its units.
    return msToNumber(value as Parameters<typeof msToNumber>[0]) >= 1;
  } catch {
    return false;
  }
};

/** Checks whether a value can be the name of an account: a part of task queues and workflow ids. */
export const isAccountName = (value: unknown): value is string =>
  typeof value === "string" && /^[a-z0-9][a-z0-9-]{0,39}$/.test(value);

/** Checks whether a value is an amount: a decimal string, zero or above, without sign or exponent. */
export const isAmount = (value: unknown): boolean =>
  typeof value === "string" && /^(0|[1-9]\d*)(\.\d+)?$/.test(value);

const text: Wanted = ["a text", (value) => typeof value === "string" && value.trim() !== ""];
const AMOUNT = 'an amount, such as "250.00"';
const amount: Wanted = [AMOUNT, isAmount];
/** The service's document has it as a number. */
const limit: Wanted = [AMOUNT, (value) => isAmount(typeof value === "number" ? `${value}` : value)];
const duration: Wanted = ['a duration, such as "7 days"', isDuration];
const account: Wanted = ["an account's name: lower-case letters, digits, dashes", isAccountName];
/** The request of a step, which the contract checks. */
const request: Wanted = ["an object", isRecord];

const oneOf = (...words: ReadonlyArray<string>): Wanted => [
  words.join(" or "),
  (value) => words.includes(String(value)),
];

/** The workflows whose inputs are checked. */
type CheckedWorkflow = "payout" | "onboardCardholder";

/** The inputs of the workflows, each with the two fields of which it has exactly one. */
const INPUTS: Readonly<
  Record<CheckedWorkflow, { readonly either: readonly [string, string]; readonly fields: Wanted }>
> = {
  payout: {
    either: ["beneficiary", "beneficiary_id"],
    fields: {
      "beneficiary?": request,
      "beneficiary_id?": text,
      payout: request,
      "account?": account,
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
      "cardholder?": request,
      "card_holder_id?": text,
      card: { product_code: text, card_limit: limit, "card_name?": text },
      "account?": account,
      "options?": {
        "onFailure?": oneOf("keep", "compensate"),
        "verifyWithin?": duration,
        "fundWithin?": duration,
      },
    },
  },
};

const isList = (wanted: Wanted): wanted is Extract<Wanted, ReadonlyArray<unknown>> =>
  Array.isArray(wanted);

const faultsOf = (value: unknown, wanted: Wanted, at: string): ReadonlyArray<InputFault> => {
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

/** Returns what is wrong with the input of a workflow: every fault but those of the requests in it. */
export const inputFaults = (
  workflow: CheckedWorkflow,
  input: unknown,
): ReadonlyArray<InputFault> => {
  const {
    either: [one, other],
    fields,
  } = INPUTS[workflow];
  const isBoth = isRecord(input) && (input[one] === undefined) === (input[other] === undefined);
  return [
    ...(isBoth
      ? [{ field: one, problem: `or ${other} must be given, exactly one of the two` }]
      : []),
    ...faultsOf(input, fields, ""),
  ];
};
