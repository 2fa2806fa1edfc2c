import { isRecord } from "@durable-payments/api-core/values";
import { nameProblem, reasonProblem } from "@durable-payments/protocol";
import { invalidInput } from "./errors.ts";

/**
 * Check the name under which somebody acts: a second person is known by nothing else.
 *
 * @throws InvalidInput where it names nobody, is too long, or has control characters.
 */
export const checkName = (name: unknown, field = "by"): void => {
  const problem = nameProblem(name);
  if (problem !== undefined)
    throw invalidInput(`The name (${field}) ${problem}. Nothing was done.`);
};

/**
 * Check the reason that somebody gives, where one is kept.
 *
 * @throws InvalidInput where it says nothing, is too long, or has control characters.
 */
export const checkReason = (reason: unknown, field = "reason"): void => {
  const problem = reasonProblem(reason);
  if (problem !== undefined)
    throw invalidInput(`The reason (${field}) ${problem}. Nothing was done.`);
};

/**
 * Check options of a caller, who may have no types: null is no options.
 *
 * @returns the options.
 * @throws InvalidInput where they are no object.
 */
export const checkOptions = <A extends object>(options: A): A => {
  const given: unknown = options;
  if (isRecord(given)) return options;
  throw invalidInput("The options must be an object of fields. Nothing was done.");
};

/**
 * Check who acts, and why.
 *
 * @throws InvalidInput as {@link checkName} and {@link checkReason}.
 */
export const checkActing = (acting: Readonly<Record<"by" | "reason", unknown>>): void => {
  const { by, reason } = checkOptions(acting);
  checkName(by);
  checkReason(reason);
};
