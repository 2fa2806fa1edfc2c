import { isAtLeast, isDecimal } from "@durable-payments/api-core/decimal";
import { isRecord } from "@durable-payments/api-core/values";
import { type Fault, InvalidRequest, type OperationName } from "@durable-payments/api-core";

/** The largest amount of one payout or card, by currency: `{"USD": "10000.00"}`. */
export type MaxAmounts = Readonly<Record<string, string>>;

/** Where an operation says how much money of which currency it moves. */
const MOVES: Partial<
  Record<OperationName, { readonly amount: string; readonly currency: string | undefined }>
> = {
  createPayout: { amount: "amount", currency: undefined },
  createCard: { amount: "card_limit", currency: "USD" },
};

const textOf = (input: unknown, field: string): string | undefined => {
  if (typeof input !== "object" || input === null) return undefined;
  const value: unknown = Object.entries(input).find(([name]) => name === field)?.[1];
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
};

/** Read how much money of which currency a request moves. */
export const moneyOf = (
  operation: OperationName,
  input: unknown,
): { readonly amount: string | undefined; readonly currency: string | undefined } => {
  const moves = MOVES[operation];
  if (moves === undefined) return { amount: undefined, currency: undefined };
  return {
    amount: textOf(input, moves.amount),
    // It is sent in capitals, however it is given.
    currency: moves.currency ?? textOf(input, "currency")?.toUpperCase(),
  };
};

/** The fault of a request that moves more than is allowed at once; none where there is no limit. */
export const overLimit = (
  operation: OperationName,
  input: unknown,
  limits: MaxAmounts,
): ReadonlyArray<Fault> => {
  const moves = MOVES[operation];
  if (moves === undefined) return [];
  const { amount, currency } = moneyOf(operation, input);
  const limit = currency === undefined ? undefined : limits[currency];
  return amount === undefined || limit === undefined || isAtLeast(limit, amount)
    ? []
    : [
        {
          field: moves.amount,
          problem: `is above the limit of ${limit} ${currency ?? ""} (PAYMENTS_MAX_AMOUNTS)`,
        },
      ];
};

/** What a request with faults fails with, before anything is sent. */
export const invalidRequest = (operation: string, faults: ReadonlyArray<Fault>): InvalidRequest =>
  new InvalidRequest({
    operation,
    carriedOut: "no",
    message: `The input is wrong: ${faults
      .map(({ field, problem }) => `${field} ${problem}`)
      .join("; ")}. Nothing was sent.`,
    faults,
  });

/**
 * Read `PAYMENTS_MAX_AMOUNTS`, a JSON object of decimal strings by currency.
 *
 * @throws Error that says what it must be: a limit that cannot be read must not be no limit.
 */
export const readMaxAmounts = (text: string | undefined): MaxAmounts => {
  if (text === undefined || text.trim() === "") return {};
  const fault = new Error(
    'PAYMENTS_MAX_AMOUNTS must be a JSON object of decimal strings by currency, such as {"USD": "10000.00"}.',
  );
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw fault;
  }
  if (!isRecord(json)) throw fault;
  return Object.fromEntries(
    Object.entries(json).map(([currency, limit]) => {
      const isLimit = typeof limit === "string" && isDecimal(limit);
      if (!/^[A-Z]{3}$/.test(currency) || !isLimit) throw fault;
      return [currency, limit];
    }),
  );
};
