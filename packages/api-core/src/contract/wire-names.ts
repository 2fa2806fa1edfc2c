import type { Assumptions } from "./assumptions.ts";

type Fields = Readonly<Record<string, unknown>>;
type Names = Readonly<Record<string, string>>;

/** The fields of an operation whose wire names are assumed: ours to the wire's. */
export const assumedNames = (operation: string, assumptions: Assumptions): Names | undefined => {
  switch (operation) {
    case "listPayouts":
      return assumptions.listPayoutsParameters;
    case "listTransactions":
      return assumptions.listTransactionsParameters;
    case "listCardholders":
      return assumptions.listCardholdersParameters;
    case "createCardholder":
      return { delivery_address: assumptions.deliveryAddressField };
    default:
      return undefined;
  }
};

const BOUNDS = new Set(["start", "end"]);

const renamed = (fields: Fields, names: Names): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [names[name] ?? name, value]));

const bounds = (fields: Fields, convert: (bound: number) => number): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      BOUNDS.has(name) ? String(convert(Number(value))) : value,
    ]),
  );

/**
 * Translates the query or body of a request from the contract's names and units to those that the
 * service is assumed to use.
 */
export const toWire = (operation: string, fields: Fields, assumptions: Assumptions): Fields => {
  const names = assumedNames(operation, assumptions);
  if (operation === "createPayout" && !assumptions.payoutKeyInBody) {
    const { unique_request_id: _, ...rest } = fields;
    return rest;
  }
  if (names === undefined) return fields;
  const inUnit =
    assumptions.rangeBoundUnit === "seconds"
      ? bounds(fields, (milliseconds) => Math.floor(milliseconds / 1000))
      : fields;
  return renamed(inUnit, names);
};

/** Translates a request back, on a server: the inverse of {@link toWire}. */
export const fromWire = (operation: string, fields: Fields, assumptions: Assumptions): Fields => {
  const names = assumedNames(operation, assumptions);
  if (names === undefined) return fields;
  const ours = renamed(
    fields,
    Object.fromEntries(Object.entries(names).map(([name, wire]) => [wire, name])),
  );
  return assumptions.rangeBoundUnit === "seconds"
    ? bounds(ours, (seconds) => seconds * 1000)
    : ours;
};

/**
 * Returns the HTTP method of an operation; the document leaves that of updateBeneficiary open.
 *
 * @param method the contract's own
 */
export const wireMethod = (operation: string, method: string, assumptions: Assumptions): string =>
  operation === "updateBeneficiary" ? assumptions.updateBeneficiaryMethod : method;
