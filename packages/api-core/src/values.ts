export {
  cleanText,
  cleanTexts,
  comparableText,
  idFault,
  keyFault,
  lettersAndDigits,
  SHOWS_NOTHING,
} from "./clean-text.ts";
export { shownText, visibleJson, visibleLines, visibleText } from "./visible-text.ts";

/** Marks of people begin so, in the ledger: two onboardings of one person are likely duplicates, whatever they cost. */
export const PERSON_MARK = "person/";

/** Longest time between the permission to send a request and its first byte, in milliseconds. */
export const PERMITTED_FOR_MS = 1_000;

/**
 * Checks whether a value is a plain record: an object, neither null nor a list.
 *
 * @param value of unknown origin: parsed JSON, a payload, a setting
 * @returns whether its fields can be read; each field is still unknown
 */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Copies what a program passes to a call: it may use the object again before the call has read it. An instance of a class
 * stays as it is, because its converter knows it.
 */
export const copyOf = <A>(given: A): A => {
  const copy = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(copy);
    if (!isRecord(part)) return part;
    const prototype: unknown = Object.getPrototypeOf(part);
    if (prototype !== Object.prototype && prototype !== null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, field]) => [name, copy(field)]));
  };
  // The same fields, with the same values.
  return copy(given) as A;
};

/** Accepts an `AbortSignal` of any realm: a test environment may have its own class. */
export const isAbortSignal = (value: unknown): value is AbortSignal =>
  typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value;

/**
 * Makes an iterable of which each loop begins again. A generator allows one loop: a second one, even after a failure, would
 * end at once, as if there were nothing.
 */
export const iterable = <A>(begin: () => AsyncIterator<A>): AsyncIterable<A> => ({
  [Symbol.asyncIterator]: begin,
});

/**
 * Looks up what a table has under a name of unknown origin: a workflow type, a header, a stage.
 *
 * @param table by name
 * @param name of any origin: `constructor` and `__proto__` are not names of every table
 * @returns what the table holds; undefined for a name that it does not have
 */
export const lookUp = <A>(table: Readonly<Record<string, A>>, name: string): A | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/**
 * Returns the message of a thrown value.
 *
 * @param error anything that was thrown
 * @returns an error's message, any other value as text
 */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const PLAIN_DECIMAL = /^\d+(?:\.\d+)?$/;

/**
 * Writes a decimal in its one canonical form: `051.50` and `51.5` are both `51.5`.
 *
 * @param text a decimal string, zero or above, without sign, exponent or separators
 * @returns the decimal without zeros at either end that carry no value; undefined for other texts
 */
export const canonicalDecimal = (text: string): string | undefined => {
  if (!PLAIN_DECIMAL.test(text)) return undefined;
  const [whole = "", fraction = ""] = text.split(".");
  const integer = whole.replace(/^0+(?=\d)/, "");
  const decimals = fraction.replace(/0+$/, "");
  return decimals === "" ? integer : `${integer}.${decimals}`;
};

/** Returns whether a host, as `URL.hostname` has it, belongs to this machine; an unknown name does not. */
export const isLoopback = (host: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/.test(host);
