import {
  type Assumptions,
  faultsOf,
  firstFaults,
  type Input,
  type OperationName,
} from "@durable-payments/api-core";
import { checkInput } from "@durable-payments/api-core/contract";
import { isRecord } from "@durable-payments/api-core/values";
import {
  ACCOUNT_NAME_RULE,
  type Duration as LengthOfTime,
  isAccountName,
} from "@durable-payments/protocol";
import { msToNumber } from "@temporalio/common/lib/time.js";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { invalidInput } from "../errors.ts";

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

const textThat = (is: (value: string) => boolean, problem: string) =>
  Schema.String.check(Schema.makeFilter((value) => is(value) || problem));

/** Name of an account, of those that workers have. */
export const AccountName = textThat(
  isAccountName,
  `must be the name of an account: ${ACCOUNT_NAME_RULE}`,
);

/** An id as the service gave it. */
export const Id = textThat((value) => value.trim() !== "", "must not be empty");

/** Whether a text is an amount that others are compared with: a decimal, zero or above, without sign or exponent. */
export const isAmount = (value: string): boolean => /^(0|[1-9]\d*)(\.\d+)?$/.test(value);

export const Amount = textThat(
  isAmount,
  'must be a decimal amount, written plainly, such as "100.00"',
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

/**
 * Checks an input that names what exists by the field `id`, or describes what is to be created in the field `body`.
 *
 * @param schema of the input, in which both may be left out.
 * @throws InvalidInput that names every fault.
 */
export const checkEither = <A extends object>(
  schema: Schema.Codec<A, unknown>,
  { body, id }: { readonly body: string; readonly id: string },
  value: unknown,
): A => {
  if (!isRecord(value))
    throw invalidInput("The file must hold a JSON object. Nothing was started.");
  const checked = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })(
    value,
  );
  const isEither = body in value !== id in value;
  if (isEither && Result.isSuccess(checked)) return checked.success;
  const either = { field: body, problem: `or ${id} must be given, exactly one of the two` };
  throw invalidInput("The input is wrong. Nothing was started.", [
    ...(isEither ? [] : [either]),
    ...(Result.isFailure(checked) ? firstFaults(faultsOf(checked.failure.issue)) : []),
  ]);
};
