import { msToNumber } from "@temporalio/common/lib/time.js";
import { InvalidRequest } from "./failures.ts";

/** What a field must be, in words, and whether it is; an object lists its fields, a `?` after what may be left out. */
type Wanted =
  | readonly [wanted: string, isIt: (value: unknown) => boolean]
  | { readonly [field: string]: Wanted };

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isDuration = (value: unknown): boolean => {
  if (typeof value !== "string" && typeof value !== "number") return false;
  try {
    // Any text that Temporal reads; the type lists its units.
    return msToNumber(value as Parameters<typeof msToNumber>[0]) > 0;
  } catch {
    return false;
  }
};

/** A text that is not empty. */
export const text: Wanted = ["a text", (value) => typeof value === "string" && value !== ""];

/** A decimal string, or a number. */
export const amount: Wanted = [
  'an amount, such as "250.00"',
  (value) => /^\d+(\.\d+)?$/.test(String(value)),
];

/** A length of time. */
export const duration: Wanted = ['a duration, such as "7 days"', isDuration];

/** The request of a step, which the activity checks that sends it. */
export const request: Wanted = ["an object", isRecord];

/** One of a few words. */
export const oneOf = (...words: ReadonlyArray<string>): Wanted => [
  words.join(" or "),
  (value) => words.includes(String(value)),
];

const isList = (wanted: Wanted): wanted is Extract<Wanted, ReadonlyArray<unknown>> =>
  Array.isArray(wanted);

/** Returns what is wrong with a value, each fault with the path of the field. */
const faultsOf = (value: unknown, wanted: Wanted, at: string): ReadonlyArray<string> => {
  if (isList(wanted)) {
    const [words, isIt] = wanted;
    if (isIt(value)) return [];
    return [
      value === undefined ? `${at} is missing: it must be ${words}` : `${at} must be ${words}`,
    ];
  }
  if (!isRecord(value)) return [`${at} must be an object`];
  const known = Object.entries(wanted).flatMap(([key, of]) => {
    const field = key.replace("?", "");
    const isLeftOut = field !== key && value[field] === undefined;
    return isLeftOut ? [] : faultsOf(value[field], of, `${at}.${field}`);
  });
  const unknown = Object.keys(value).filter(
    (name) => !Object.hasOwn(wanted, name) && !Object.hasOwn(wanted, `${name}?`),
  );
  return [...known, ...unknown.map((name) => `${at}.${name} is unknown`)];
};

/**
 * Refuses an input that does not have the fields that a workflow reads, and exactly one of two, before anything is sent.
 *
 * @throws InvalidRequest with every fault.
 */
export const refuseFaults = (
  input: object,
  wanted: Wanted,
  [one, other]: readonly [string, string],
): void => {
  const isBoth = isRecord(input) && (input[one] === undefined) === (input[other] === undefined);
  const faults = [
    ...(isBoth ? [`input must have exactly one of ${one} and ${other}`] : []),
    ...faultsOf(input, wanted, "input"),
  ];
  if (faults.length > 0) throw new InvalidRequest(`${faults.join("; ")}. Nothing was sent.`);
};
