import { type Assumptions, makeAssumptions } from "@durable-payments/api-core";
import { canonicalDecimal, isRecord, lookUp } from "@durable-payments/api-core/values";
import { hashOf } from "@durable-payments/protocol/account";
import * as Result from "effect/Result";
import { invalidInput } from "../errors.ts";

const HASH_CHARACTERS = 32;

/** The fields that are sent in capitals, however they are given. */
const CAPITALS: Readonly<Record<string, ReadonlyArray<string>>> = {
  payout: ["currency", "country"],
  beneficiary: ["account_currency", "bank_country", "country_code"],
};

const AMOUNTS: Readonly<Record<string, string>> = { payout: "amount", card: "card_limit" };

const canonicalPart = (part: string, value: unknown, isContent: boolean): unknown => {
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      if (typeof field !== "string") return [name, field];
      if (lookUp(CAPITALS, part)?.includes(name)) return [name, field.toUpperCase()];
      return isContent && AMOUNTS[part] === name
        ? [name, canonicalDecimal(field) ?? field]
        : [name, field];
    }),
  );
};

/** Returns an input with its codes in capitals: `eur` and `EUR` are one currency in totals, limits and ids. */
export const inCapitals = <A extends object>(input: A, isContent = false): A =>
  Object.fromEntries(
    Object.entries(input).map(([part, value]) => [part, canonicalPart(part, value, isContent)]),
    // The same fields in another spelling.
  ) as A;

/** Makes a workflow id of what a run is to do: the same for 51.0 and 51.00. */
const idOfContent = (prefix: string, input: object): string => {
  const { options: _, ...content }: { readonly options?: unknown } = inCapitals(input, true);
  return `${prefix}-${hashOf(content).slice(0, HASH_CHARACTERS)}`;
};

/** Temporal's limit, in bytes of UTF-8. */
const LONGEST_ID = 1000;

/** What ids of the project's own workflows begin with. */
const RESERVED = ["payouts/", "tracker/", "notifier/"];

const idProblem = (id: unknown): string | undefined => {
  // A caller without types can give anything.
  if (typeof id !== "string" || id.trim() === "") return "must not be empty";
  // Each is sent as a replacement character: two such ids would be one.
  if (/\p{Cs}/u.test(id)) return "must have whole characters only";
  if (/\p{Cc}/u.test(id)) return "must have no control characters";
  if (Buffer.byteLength(id) > LONGEST_ID) return `must have at most ${LONGEST_ID} bytes`;
  const reserved = RESERVED.find((begin) => id.startsWith(begin));
  return reserved && `must not begin with "${reserved}": batches and trackers have such ids`;
};

/**
 * Checks an id that a user gives a new run, and returns it.
 *
 * @throws InvalidInput where Temporal would refuse it, or it begins as the id of a batch or a tracker does.
 */
export const checkId = (id: string): string => {
  const problem = idProblem(id);
  if (problem !== undefined) throw invalidInput(`The id ${problem}. Nothing was started.`);
  return id;
};

/** A run whose input has been checked. */
export interface PlannedRun<Input extends object = object> {
  /** Name of the workflow. */
  readonly workflowType: string;
  /** The id when the user gives none. */
  readonly contentId: string;
  readonly input: Input;
  /** Name of the account that pays, where the input has one. */
  readonly account?: string;
}

/** Plans the run of a checked input. */
export const plannedRun = <Input extends { readonly account?: string }>(
  workflowType: string,
  prefix: string,
  input: Input,
): PlannedRun<Input> => ({
  workflowType,
  contentId: idOfContent(prefix, input),
  input,
  ...(input.account !== undefined && { account: input.account }),
});

/**
 * Reads what is assumed where the service's document is silent, as the worker reads it.
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
