import { type AmendedField, lastFour } from "@durable-payments/protocol";
import { isRecord } from "@durable-payments/api-core/values";

/** Of numbers by which somebody can be paid or known, the last four characters are shown. */
const NUMBERS =
  /(?:^|[._])(?:account_number|card_number|iban|identification_value|routing_code_value\d)$/;

const textOf = (field: string, value: unknown): string => {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return NUMBERS.test(field) ? lastFour(text) : text;
};

const namesIn = (value: unknown): ReadonlyArray<string> =>
  isRecord(value) ? Object.keys(value) : [];

const at = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined);

/** The fields in which two inputs differ. */
export const amendedFields = (
  before: unknown,
  after: unknown,
  within = "",
): ReadonlyArray<AmendedField> => {
  const names = [...new Set([...namesIn(before), ...namesIn(after)])];
  if (names.length > 0) {
    return names.flatMap((name) =>
      amendedFields(at(before, name), at(after, name), within === "" ? name : `${within}.${name}`),
    );
  }
  const [was, is] = [textOf(within, before), textOf(within, after)];
  // Two numbers may end alike.
  return before === after ? [] : [{ field: within, before: was, after: is }];
};
