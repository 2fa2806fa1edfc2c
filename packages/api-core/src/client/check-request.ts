import * as Result from "effect/Result";
import type { Assumptions } from "../contract/assumptions.ts";
import { defaultAssumptions } from "../contract/default-assumptions.ts";
import { type Fault, nearestName } from "../contract/faults.ts";
import { faultsOf, given, type RawRequest } from "../contract/rules.ts";
import { iso4217Digits } from "../decimal.ts";
import { cleanTexts, isRecord } from "../values.ts";
import { CARD_CURRENCY } from "../contract/cards.ts";
import { toWire, wireMethod } from "../contract/wire-names.ts";
import type { ClientOptions } from "./config.ts";
import type { InvalidRequest } from "./errors.ts";
import { invalidRequest } from "./invalid-request.ts";
import { type Operation, operation, type OperationName, type RequestPart } from "./operations.ts";
import { hiddenValues } from "./redact.ts";
import type { Outgoing } from "./send.ts";

/** The encoded parts of a checked request, under the contract's names. */
export interface EncodedRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>> | undefined;
}

const pick = (input: RawRequest, fields: ReadonlyArray<string>): RawRequest => {
  const picked: Record<string, unknown> = {};
  for (const field of fields) {
    const value = input[field];
    if (value !== undefined) picked[field] = value;
  }
  return picked;
};

const AMOUNTS = ["amount", "card_limit"];

const tooManyDigits = (input: RawRequest, assumptions: Assumptions): Array<Fault> => {
  if (!AMOUNTS.some((field) => field in input)) return [];
  const currency = given(input, "currency").toUpperCase() || CARD_CURRENCY;
  const most =
    assumptions.amountFractionDigits === "iso4217"
      ? iso4217Digits(currency)
      : assumptions.amountFractionDigits;
  return AMOUNTS.flatMap((field) => {
    const digits = given(input, field).split(".")[1]?.length ?? 0;
    return digits > most
      ? [{ field, problem: `has ${digits} decimal places; ${currency} has ${most}` }]
      : [];
  });
};

/**
 * Cleans the texts of a request, checks it against the contract and encodes it.
 *
 * @param input fields of path, query and body in one object
 * @returns the encoded parts; fails with `InvalidRequest`, which names every fault at
 *   once: of single fields, of rules across fields, and fields that the operation does not have
 */
export const checkRequest = (
  operation: Operation,
  input: unknown,
  assumptions: Assumptions,
): Result.Result<EncodedRequest, InvalidRequest> => {
  const faults: Array<Fault> = [];
  const fields = isRecord(input) ? cleanTexts(input) : {};
  if (input !== undefined && !isRecord(input)) {
    faults.push({ field: "", problem: "must be an object of fields" });
  }
  const { params: path, payload: body, query: search } = operation;
  const encoded = (part: RequestPart | undefined): Readonly<Record<string, unknown>> => {
    if (part === undefined) return {};
    const result = part.encode(pick(fields, part.fields));
    // Encoding a struct gives an object.
    if (Result.isSuccess(result)) return result.success as Readonly<Record<string, unknown>>;
    // The schema looks at rules across fields only when each field is right.
    faults.push(...faultsOf(result.failure.issue), ...part.rules.flatMap((rule) => rule(fields)));
    return {};
  };
  const params = encoded(path);
  const query = encoded(search);
  const payload = body && encoded(body);
  for (const field of Object.keys(fields)) {
    if (operation.fields.has(field)) continue;
    const meant = nearestName(field, [...operation.fields]);
    const hint = meant === undefined ? "" : ` (did you mean ${meant}?)`;
    faults.push({ field, problem: `is not a field of this operation${hint}` });
  }
  faults.push(...tooManyDigits(fields, assumptions));
  if (faults.length === 0) {
    // Path parameters are texts in the contract.
    return Result.succeed({ params: params as Readonly<Record<string, string>>, query, payload });
  }
  return Result.fail(invalidRequest(operation.name, faults));
};

/**
 * Checks the input of an operation without sending it, before a run starts for example.
 *
 * @param name of the operation
 * @param input fields of path, query and body in one object
 * @param options.assumptions those of the client that will send it
 * @param options.later fields that may still be missing: an id of an earlier step, for example
 * @returns every fault; empty if there is no fault
 * @example
 * const faults = checkInput("freezeCard", {}); // [{ field: "card_id", problem: "is required" }]
 */
export const checkInput = (
  name: OperationName,
  input: unknown,
  {
    assumptions = defaultAssumptions,
    later = [],
  }: {
    readonly assumptions?: Assumptions;
    readonly later?: ReadonlyArray<string>;
  } = {},
): ReadonlyArray<Fault> => {
  const checked = checkRequest(operation(name), input, assumptions);
  return Result.isSuccess(checked)
    ? []
    : checked.failure.faults.filter(({ field }) => !later.includes(field));
};

/** The query, with its question mark; empty without fields. */
const search = (fields: Readonly<Record<string, unknown>>): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) query.append(name, String(value));
  return query.size === 0 ? "" : `?${query.toString()}`;
};

const path = (template: string, params: Readonly<Record<string, string>>): string =>
  template.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));

/** Writes a checked request in the form of the wire: all sends of a call are equal, but for the token. */
export const prepareRequest = (
  operation: Operation,
  { params, payload, query }: EncodedRequest,
  { assumptions }: Pick<ClientOptions, "assumptions">,
): Pick<Outgoing, "body" | "hidden" | "method" | "operation" | "path"> => {
  const { method, name, path: template } = operation;
  const body = payload && toWire(name, payload, assumptions);
  return {
    operation,
    method: wireMethod(name, method, assumptions),
    path: path(template, params) + search(toWire(name, query, assumptions)),
    body: body && JSON.stringify(body),
    hidden: () => hiddenValues(payload ?? {}),
  };
};
