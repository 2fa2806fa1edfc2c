import { msToNumber } from "@temporalio/common/lib/time.js";
import { InvalidRequest } from "./failures.ts";

/** Returns what is wrong with a value, each fault with the path of the field. */
type Check = (value: unknown, at: string) => ReadonlyArray<string>;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const must =
  (isIt: (value: unknown) => boolean, wanted: string): Check =>
  (value, at) => {
    if (isIt(value)) return [];
    return [
      value === undefined ? `${at} is missing: it must be ${wanted}` : `${at} must be ${wanted}`,
    ];
  };

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
export const text = must((value) => typeof value === "string" && value !== "", "a text");

/** A decimal string, or a number. */
export const amount = must(
  (value) => /^\d+(\.\d+)?$/.test(String(value)),
  'an amount, such as "250.00"',
);

/** A length of time. */
export const duration = must(isDuration, 'a duration, such as "7 days"');

/** The request of a step, which the activity checks that sends it. */
export const request = must(isRecord, "an object");

/** One of a few words. */
export const oneOf = (...words: ReadonlyArray<string>): Check =>
  must((value) => words.includes(String(value)), words.join(" or "));

/** What may be left out. */
export const optional =
  (check: Check): Check =>
  (value, at) =>
    value === undefined ? [] : check(value, at);

/** An object with these fields, and no others. */
export const object =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value, at) => {
    if (!isRecord(value)) return [`${at} must be an object`];
    const known = Object.entries(fields).flatMap(([name, check]) =>
      check(value[name], `${at}.${name}`),
    );
    const unknown = Object.keys(value).filter((name) => !Object.hasOwn(fields, name));
    return [...known, ...unknown.map((name) => `${at}.${name} is unknown`)];
  };

/** An object that has exactly one of two fields. */
export const exactlyOne =
  (one: string, other: string, check: Check): Check =>
  (value, at) => {
    const isWrong = isRecord(value) && (value[one] === undefined) === (value[other] === undefined);
    return [
      ...(isWrong ? [`${at} must have exactly one of ${one} and ${other}`] : []),
      ...check(value, at),
    ];
  };

/**
 * Refuses an input that does not have the fields that a workflow reads, before anything is sent.
 *
 * @throws InvalidRequest with every fault.
 */
export const refuseFaults = (input: unknown, check: Check): void => {
  const faults = check(input, "input");
  if (faults.length > 0) throw new InvalidRequest(`${faults.join("; ")}. Nothing was sent.`);
};
