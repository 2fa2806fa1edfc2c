import { isRecord } from "@durable-payments/api-core/values";
import { type Duration, STEP } from "@durable-payments/protocol";
import { patched } from "@temporalio/workflow";
import { durationOf } from "./durations.ts";
import { runFailure } from "./failures.ts";
import type { Run } from "./run.ts";

/** Gives what is wrong with a value, each fault with the path of the field. */
type Check = (value: unknown, at: string) => ReadonlyArray<string>;

const fault = (value: unknown, at: string, wanted: string): ReadonlyArray<string> => [
  value === undefined ? `${at} is missing: it must be ${wanted}` : `${at} must be ${wanted}`,
];

/** A string. */
export const text: Check = (value, at) =>
  typeof value === "string" ? [] : fault(value, at, "a string");

/** An amount, as it is given: a decimal string, or a number. */
export const amount: Check = (value, at) => (typeof value === "number" ? [] : text(value, at));

/** A number of things. */
export const count: Check = (value, at) =>
  Number.isSafeInteger(value) ? [] : fault(value, at, "a whole number");

/** A length of time, which may be none. */
export const duration: Check = (value, at) => {
  const ms = durationOf(value as Duration);
  return ms === undefined || ms < 0 ? fault(value, at, 'a duration, such as "7 days"') : [];
};

/** A list. */
export const list =
  (check: Check): Check =>
  (value, at) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => check(item, `${at}[${index}]`))
      : fault(value, at, "a list");

/** An object whose values are all alike. */
export const table =
  (check: Check): Check =>
  (value, at) =>
    isRecord(value)
      ? Object.entries(value).flatMap(([name, item]) => check(item, `${at}.${name}`))
      : fault(value, at, "an object");

/** An object with these fields, and any others. */
export const object =
  (fields: Readonly<Record<string, Check>> = {}): Check =>
  (value, at) =>
    isRecord(value)
      ? Object.entries(fields).flatMap(([name, check]) => check(value[name], `${at}.${name}`))
      : fault(value, at, "an object");

/** What may be left out. */
export const optional =
  (check: Check): Check =>
  (value, at) =>
    value === undefined ? [] : check(value, at);

/** What may be left out or null. */
export const nullable =
  (check: Check): Check =>
  (value, at) =>
    value === undefined || value === null ? [] : check(value, at);

const refusal = (faults: ReadonlyArray<string>, what: string) =>
  runFailure("InvalidRequest", `${faults.join("; ")}. ${what}`);

/**
 * Expect that what a step is given can be read: an input can be any JSON, and an error of another type would fail the
 * workflow task, for ever. What the values say, the activity checks that sends them.
 *
 * @param at the step, or the name of what it is given.
 * @param consequence what was not done, or stands.
 * @throws InvalidRequest
 */
export const expectReadable = (
  value: unknown,
  at: string,
  check: Check,
  consequence = "It was not sent.",
): void => {
  const faults = check(value, at);
  if (faults.length > 0) throw refusal(faults, consequence);
};

/** Before, a negative length of time was taken for none, and the others were found when they were needed. */
const CHECKED_TIMES = "the times of a step are checked before it begins";

/**
 * Expect that the lengths of time that a step is given are some, before it does anything.
 *
 * @throws InvalidRequest
 */
export const expectTimes = (options: object, step: string, check: Check, so: string): void => {
  if (check(options, step).length === 0 || !patched(CHECKED_TIMES)) return;
  expectReadable(options, step, check, so);
};

/** The times of a wait. */
export const waiting = object({
  within: optional(duration),
  pollInterval: optional(object({ min: optional(duration), max: optional(duration) })),
});

/** Runs that began before go on as far as they came. */
const READABLE_INPUT = "an input that cannot be read is refused";

/**
 * Refuse an input that a workflow cannot read, before anything is sent. It is a step, so that the run can be retried.
 *
 * @throws InvalidRequest, which names every fault.
 */
export const refuseUnreadable = async (run: Run, input: unknown, check: Check): Promise<void> => {
  const faults = check(input, "input");
  if (faults.length === 0 || !patched(READABLE_INPUT)) return;
  await run.step(STEP.checkRequests, "checking the input", () =>
    Promise.reject(refusal(faults, "Nothing was sent.")),
  );
};

/** The options of an input, as far as they can be read. */
export const optionsOf = <Options extends object>(input: {
  readonly options?: Options;
}): Partial<Options> => {
  const options: unknown = isRecord(input) ? input["options"] : undefined;
  // Which of them is none of these options is refused by {@link refuseUnreadable}.
  return isRecord(options) ? (options as Partial<Options>) : {};
};
