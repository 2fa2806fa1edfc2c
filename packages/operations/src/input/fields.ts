import type { Assumptions, Input, OperationName } from "@durable-payments/api-core";
import { checkInput } from "@durable-payments/api-core/contract";
import { isRecord } from "@durable-payments/api-core/values";
import {
  ACCOUNT_NAME_RULE,
  type Duration as LengthOfTime,
  isAccountName,
} from "@durable-payments/protocol";
import { msToNumber } from "@temporalio/common/lib/time.js";
import * as Schema from "effect/Schema";

/** Fields that the run fills in, each with what to say to who gives it anyhow. */
type FilledIn<Field extends string> = Readonly<Record<Field, string>>;

/** The faults of an operation's input, as issues of the value that holds it. */
export const inputIssues = (
  name: OperationName,
  value: Readonly<Record<string, unknown>>,
  assumptions: Assumptions,
  filledIn: FilledIn<string>,
) =>
  [
    ...Object.entries(filledIn)
      .filter(([field]) => field in value)
      .map(([field, problem]) => ({ field, problem })),
    ...checkInput(name, value, { assumptions, later: Object.keys(filledIn) }),
  ].map(({ field, problem }) => ({ path: field === "" ? [] : field.split("."), issue: problem }));

/** The input of an operation, as the contract states it, without the fields that the run fills in. */
export const operationInput = <
  Name extends OperationName,
  Field extends keyof Input<Name> & string,
>(
  name: Name,
  assumptions: Assumptions,
  filledIn: FilledIn<Field>,
): Schema.Codec<Omit<Input<Name>, Field>> =>
  Schema.declare(
    // What makes it the operation's input is checked below, where each fault can be named.
    (value): value is Omit<Input<Name>, Field> => isRecord(value),
    { expected: "an object of fields" },
  ).check(Schema.makeFilter((value) => inputIssues(name, { ...value }, assumptions, filledIn)));

/** Name of an account, of those that workers have. */
export const AccountName = Schema.String.check(
  Schema.makeFilter(
    (value) => isAccountName(value) || `must be the name of an account: ${ACCOUNT_NAME_RULE}`,
  ),
);

/** An id as the service gave it. */
export const Id = Schema.String.check(
  Schema.makeFilter((value) => value.trim() !== "" || "must not be empty"),
);

/**
 * Check a text for an amount that others are compared with.
 *
 * @param value such as `100.00`.
 * @returns true for a decimal number, zero or above, without sign or exponent.
 */
const isAmount = (value: string): boolean => /^(0|[1-9]\d*)(\.\d+)?$/.test(value);

/** An amount that others are compared with: a decimal string, zero or above. */
export const Amount = Schema.String.check(
  Schema.makeFilter(
    (value) => isAmount(value) || 'must be a decimal amount, written plainly, such as "100.00"',
  ),
);

const isDuration = (value: unknown): value is LengthOfTime => {
  if (typeof value !== "string" && typeof value !== "number") return false;
  try {
    // Temporal's own reading of durations, whose type names the texts that it takes.
    const milliseconds = msToNumber(value as Parameters<typeof msToNumber>[0]);
    return Number.isFinite(milliseconds) && milliseconds >= 1;
  } catch {
    return false;
  }
};

/** A length of time above zero. */
export const Duration = Schema.declare(isDuration, {
  expected: 'a duration such as "90 seconds" or "30 days", or a number of milliseconds',
});
