import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";
import { codeFault, textFault } from "../clean-text.ts";

/** A filter with the sentence that a person reads when it fails. */
const rule = <T>(message: string, holds: (value: T) => boolean) =>
  Schema.makeFilter<T>((value) => holds(value) || message);

/**
 * A text of a request. The service's document has no field of several lines, and a bank would show a control
 * character in its own way, or refuse the payment. Answers may have them.
 */
const RequestText = Schema.String.check(
  // If it has one, then only this fault is named.
  Schema.makeFilter<string>(textFault, undefined, true),
);

/** At least `min` and at most `max` characters: code points, as a person counts most letters. */
const length = (min: number, max: number, message: string) =>
  Schema.makeFilter<string>(
    (value) =>
      (value.length >= min && (value.length <= max || Array.from(value).length <= max)) || message,
    {
      toJsonSchema: () => ({
        ...(min > 0 && { minLength: min }),
        ...(max < Number.POSITIVE_INFINITY && { maxLength: max }),
      }),
    },
  );

/** A text that must be given: 1 to `max` characters. */
export const text = (max?: number) =>
  RequestText.check(
    max === undefined
      ? length(1, Number.POSITIVE_INFINITY, "must not be empty")
      : length(1, max, `must have 1 to ${max} characters`),
  );

/** An id that must be given and is not blank. */
export const GivenId = RequestText.check(
  Schema.makeFilter<string>((value) => value.trim() !== "" || "must not be empty", {
    toJsonSchema: () => ({ minLength: 1 }),
  }),
);

/** A text that must be given and may be empty, of at most `max` characters. */
export const emptyText = (max: number) =>
  RequestText.check(length(0, max, `must have at most ${max} characters`));

/** A text that may be left out, of at most `max` characters. */
export const optionalText = (max?: number) =>
  Schema.optionalKey(max === undefined ? RequestText : emptyText(max));

/** A number of an account, or a code of a bank, that may be left out: of at most `max` characters. */
export const optionalCode = (max?: number) =>
  Schema.optionalKey(codeText(max ?? Number.POSITIVE_INFINITY));

/** A number of an account that must be given and may be empty, of at most `max` characters. */
export const codeText = (max: number) =>
  Schema.String.check(
    Schema.makeFilter<string>(codeFault, undefined, true),
    length(0, max, `must have at most ${max} characters`),
  );

/** A code of letters, which is sent in capitals, however it is given. */
const letters = (count: number, message: string) =>
  Schema.String.check(Schema.isPattern(new RegExp(`^[A-Z]{${count}}$`, "u"), { message })).pipe(
    Schema.decodeTo(
      Schema.String.check(Schema.isPattern(new RegExp(`^[A-Za-z]{${count}}$`, "u"), { message })),
      {
        decode: SchemaGetter.passthrough(),
        encode: SchemaGetter.transform((code) => code.toUpperCase()),
      },
    ),
  );

/** ISO 3166-1 alpha-2: `US`. */
export const CountryCode = letters(2, "must be a two-letter country code, such as US");

/** ISO 4217: `USD`. */
export const CurrencyCode = letters(3, "must be a three-letter currency code, such as USD");

const isCalendarDate = (value: string): boolean => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const date = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
};

/** A calendar date, `YYYY-MM-DD`. */
export const CalendarDate = Schema.String.check(
  rule("must be a calendar date, YYYY-MM-DD", isCalendarDate),
);

/** An amount of money to be moved: a decimal string above zero, without sign, exponent or separators. */
export const Amount = Schema.String.check(
  Schema.isPattern(/^(?=.*[1-9])(0|[1-9]\d*)(\.\d+)?$/u, {
    message: 'must be a decimal amount above zero in plain notation, such as "100.00"',
  }),
);

/** As {@link Amount}, or zero. */
const AmountOrZero = Schema.String.check(
  Schema.isPattern(/^(0|[1-9]\d*)(\.\d+)?$/u, {
    message: 'must be a decimal amount in plain notation, such as "100.00"',
  }),
);

/** A two-sided check that a decimal string survives as a JSON number. */
const isExactAsNumber = (value: string): boolean => {
  const plain = String(Number(value));
  const trimmed = value.includes(".") ? value.replace(/\.?0+$/, "") : value;
  return plain === trimmed;
};

/**
 * An amount that the service takes as a JSON number (`card_limit`). Ours stays the decimal string;
 * an amount that a number cannot carry exactly is refused instead of rounded.
 */
export const AmountAsNumber = Schema.Finite.pipe(
  Schema.decodeTo(
    AmountOrZero.check(
      rule("has more digits than a JSON number can represent exactly", isExactAsNumber),
    ),
    { decode: SchemaGetter.String(), encode: SchemaGetter.Number() },
  ),
);

/** A segment of a path: an id as the service gave it. */
export const PathSegment = RequestText.check(
  Schema.isPattern(/^(?!\.+$)[^\s/?#\\%\p{Cc}\p{Cs}]+$/u, {
    message:
      "must be an id from the service: not empty, without slashes or white space, and not only dots",
  }),
);

/** The caller's key of a repeatable request: at most 36 characters. */
export const UniqueRequestId = text(36);

/** The first page is 1. */
export const PageNumber = Schema.Int.check(
  Schema.isGreaterThanOrEqualTo(1, { message: "must be 1 or more" }),
);

/** Items a page: 1 to the list's maximum. */
export const pageSize = (max: number) =>
  Schema.Int.check(
    Schema.isBetween({ minimum: 1, maximum: max }, { message: `must be from 1 to ${max}` }),
  );

/** Milliseconds since 1970 of a date-range bound. */
export const RangeBound = Schema.Int.check(
  Schema.isGreaterThanOrEqualTo(0, { message: "must be a time in milliseconds since 1970" }),
);
