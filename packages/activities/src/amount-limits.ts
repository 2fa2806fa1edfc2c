import { isAtLeast } from "@durable-payments/api-core/decimal";
import { canonicalDecimal, isRecord, lookUp } from "@durable-payments/api-core/values";
import { type Fault, InvalidRequest, type OperationName } from "@durable-payments/api-core";

/** An amount for each currency: `{"USD": "10000.00"}`. One that is not listed has none. */
export type AmountLimits = Readonly<Record<string, string>>;

/** Cards, and what is moved to and from them, are in this currency only. */
const CARD_CURRENCY = "USD";

interface Moves {
  readonly amount: string;
  readonly currency: string | undefined;
}

/** Where an operation says how much money of which currency it moves. */
const MOVES = {
  createPayout: { amount: "amount", currency: undefined },
  createCard: { amount: "card_limit", currency: CARD_CURRENCY },
  withdrawFromCard: { amount: "amount", currency: CARD_CURRENCY },
} as const satisfies Partial<Record<OperationName, Moves>>;

const textOf = (input: unknown, field: string): string | undefined => {
  if (typeof input !== "object" || input === null) return undefined;
  const value: unknown = Object.entries(input).find(([name]) => name === field)?.[1];
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
};

/** Read how much money of which currency a request moves. */
export const moneyOf = (
  operation: string,
  input: unknown,
): { readonly amount: string | undefined; readonly currency: string | undefined } => {
  const moves = lookUp<Moves>(MOVES, operation);
  if (moves === undefined) return { amount: undefined, currency: undefined };
  return {
    amount: textOf(input, moves.amount),
    // It is sent in capitals, however it is given.
    currency: moves.currency ?? textOf(input, "currency")?.toUpperCase(),
  };
};

/**
 * The fault of a request that moves more than is allowed at once.
 *
 * @param limits undefined where nothing is limited; otherwise a currency that is not listed is not allowed.
 */
export const overLimit = (
  operation: string,
  input: unknown,
  limits: AmountLimits | undefined,
): ReadonlyArray<Fault> => {
  const moves = lookUp<Moves>(MOVES, operation);
  if (moves === undefined || limits === undefined) return [];
  const { amount, currency } = moneyOf(operation, input);
  // What is missing is another fault.
  if (amount === undefined || currency === undefined) return [];
  const limit = limits[currency];
  if (limit !== undefined && isAtLeast(limit, amount)) return [];
  const problem =
    limit === undefined
      ? `is in ${currency}, which PAYMENTS_MAX_AMOUNTS does not list: nothing is paid in it`
      : `is above the limit of ${limit} ${currency} (PAYMENTS_MAX_AMOUNTS)`;
  return [{ field: moves.amount, problem }];
};

/** What a request with faults fails with, before anything is sent. */
export const invalidRequest = (operation: string, faults: ReadonlyArray<Fault>): InvalidRequest =>
  new InvalidRequest({
    operation,
    carriedOut: "no",
    message: `The input is wrong: ${faults
      .map(({ field, problem }) => `${field} ${problem}`)
      .join("; ")}. It was not sent.`,
    faults,
  });

/**
 * Read a setting that has an amount for each currency, as a JSON object of decimal strings.
 *
 * @param name of the setting, such as `PAYMENTS_MAX_AMOUNTS`.
 * @param text its value, if it is set.
 * @returns undefined where it is not set.
 * @throws Error that says what it must be: a limit that cannot be read, or is blank, must not be no limit.
 */
export const readAmountLimits = (
  name: string,
  text: string | undefined,
): AmountLimits | undefined => {
  if (text === undefined) return undefined;
  const fault = new Error(
    `${name} must be a JSON object of decimal strings by currency, each once, such as {"USD": "10000.00"}; leave it out to set no limit.`,
  );
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw fault;
  }
  if (!isRecord(json)) throw fault;
  const limits = Object.entries(json).map(([currency, limit]) => {
    const isLimit = typeof limit === "string" && canonicalDecimal(limit) !== undefined;
    if (!/^[A-Z]{3}$/.test(currency) || !isLimit) throw fault;
    return [currency, limit] as const;
  });
  // Of two of one name JSON.parse keeps the last, and says nothing. No name or amount has a colon in it.
  if (text.split(":").length - 1 !== limits.length) throw fault;
  return Object.fromEntries(limits);
};
