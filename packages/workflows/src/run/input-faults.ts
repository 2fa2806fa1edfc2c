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

/** A length of time. */
export const duration: Check = (value, at) =>
  durationOf(value as Duration) === undefined
    ? fault(value, at, 'a duration, such as "7 days"')
    : [];

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
 * @throws InvalidRequest
 */
export const expectReadable = (value: unknown, at: string, check: Check): void => {
  const faults = check(value, at);
  if (faults.length > 0) throw refusal(faults, "It was not sent.");
};

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
