import {
  type Assumptions,
  type Fault,
  faultsOf,
  firstFaults,
  makeAssumptions,
} from "@durable-payments/api-core";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { InvalidInput, invalidInput } from "../errors.ts";
import { isRecord } from "@durable-payments/api-core/values";

const check = <A>(schema: Schema.Codec<A, unknown>, value: unknown) =>
  Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })(value).pipe(
    Result.mapError(({ issue }) => firstFaults(faultsOf(issue))),
  );

/** The two shapes of a file: `id` names what exists, `body` describes what is to be created. */
export interface Shapes<A, B> {
  readonly id: { readonly field: string; readonly schema: Schema.Codec<A, unknown> };
  readonly body: { readonly field: string; readonly schema: Schema.Codec<B, unknown> };
}

/**
 * Check a file that has either of two shapes.
 *
 * @throws InvalidInput that names every fault
 */
export const checkRunFile = <A, B>({ body, id }: Shapes<A, B>, value: unknown): A | B => {
  if (!isRecord(value))
    throw invalidInput("The file must hold a JSON object. Nothing was started.");
  const hasBody = body.field in value;
  const hasId = id.field in value;
  if (hasBody !== hasId) {
    const checked: Result.Result<A | B, ReadonlyArray<Fault>> = hasBody
      ? check(body.schema, value)
      : check(id.schema, value);
    if (Result.isSuccess(checked)) return checked.success;
    throw wrongFile(checked.failure);
  }
  const { [id.field]: _, ...withoutId } = value;
  const checked = check(body.schema, withoutId);
  const others = Result.isSuccess(checked) ? [] : checked.failure;
  throw wrongFile([
    { field: body.field, problem: `or ${id.field} must be given, exactly one of the two` },
    ...others.filter(({ field }) => field !== body.field),
  ]);
};

const wrongFile = (faults: ReadonlyArray<Fault>): InvalidInput =>
  invalidInput("The input is wrong. Nothing was started.", faults);

/**
 * Read what is assumed where the service's document is silent, as the worker reads it.
 *
 * @param overrides JSON object, as `PAYMENTS_ASSUMPTIONS` has it.
 * @throws InvalidInput where it is none.
 */
export const readAssumptions = (overrides = "{}"): Assumptions => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(overrides);
  } catch {
    throw invalidInput("PAYMENTS_ASSUMPTIONS must be a JSON object.");
  }
  return Result.getOrThrowWith(makeAssumptions(parsed), ({ message }) =>
    invalidInput(`PAYMENTS_ASSUMPTIONS: ${message}`),
  );
};
