import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import * as SchemaAST from "effect/SchemaAST";
import * as SchemaGetter from "effect/SchemaGetter";
import { isUnsetTime } from "./times.ts";

/** A filter with the sentence that a person reads when it fails. */
const rule = <T>(message: string, holds: (value: T) => boolean) =>
  Schema.makeFilter<T>((value) => holds(value) || message);

/** A line break, in any notation that shows a text on several lines. */
const LINE_BREAK = /[\n\v\f\r\u{85}\u{2028}\u{2029}]/u;

/**
 * Characters that show nothing, and change how a text is shown or read: controls, line breaks, marks that turn the order of the
 * letters around them, and half of a character. Letters of all scripts, and the characters that join them, may be sent.
 */
const UNSENDABLE = /[\p{Cc}\p{Cs}\u{2028}\u{2029}\u{202A}-\u{202E}\u{2066}-\u{2069}]/u;

const codePoint = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

const unsendable = (value: string): string | undefined => {
  const found = UNSENDABLE.exec(value)?.[0];
  if (found === undefined) return undefined;
  return LINE_BREAK.test(found)
    ? `has a line break (${codePoint(found)}): write it on one line`
    : `has the control character ${codePoint(found)}: remove it`;
};

/**
 * A text of a request. The service's document has no field of several lines, and a bank would show a control
 * character in its own way, or refuse the payment. Answers may have them.
 */
const RequestText = Schema.String.check(
  // If it has one, then only this fault is named.
  Schema.makeFilter<string>(unsendable, undefined, true),
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

/**
 * Reads what an optional field of an answer cannot be read as, as absent: an odd field must not hide the id of
 * something that was created.
 */
export const orAbsent = <S extends Schema.Top>(field: S) =>
  field.pipe(Schema.catchDecoding(() => Effect.succeedNone));

/** A number in an answer that has the service's own digits: beyond these bounds some of them are lost. */
const ExactNumber = Schema.Finite.check(
  rule(
    "must be a number that has lost no digits",
    (value: number) => Number.isSafeInteger(Math.trunc(value)) && !String(value).includes("e"),
  ),
);

/** A field without which an answer means nothing; a number becomes its text. */
export const answered = Schema.Union([Schema.String, ExactNumber]).pipe(
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.String(),
    encode: SchemaGetter.passthroughSubtype(),
  }),
);

/** Ways to write that there is no id. */
const NO_ID = /^\s*(0+|-+|null|nil|none|undefined|n\/a)?\s*$/i;

/** An id in an answer; an empty one, `0` or `null` is not an id. */
export const answeredId = answered.check(
  Schema.isMinLength(1),
  rule("must be an id", (id: string) => !NO_ID.test(id)),
);

const absentWhen = (isUnset: (value: string) => boolean, unset: string) =>
  orAbsent(
    Schema.optionalKey(Schema.NullOr(Schema.Union([Schema.String, ExactNumber]))).pipe(
      Schema.decodeTo(Schema.optionalKey(Schema.String), {
        decode: SchemaGetter.transformOptional((value: Option.Option<string | number | null>) =>
          Option.filter(
            Option.map(value, (given) => (given === null ? "" : String(given))),
            (given) => !isUnset(given),
          ),
        ),
        encode: SchemaGetter.transformOptional((value: Option.Option<string>) =>
          Option.some<string | number | null>(Option.getOrElse(value, () => unset)),
        ),
      }),
    ),
  );

/** A field of an answer that may be unset: missing, null, empty, and neither text nor number, it is absent. */
export const answeredOrUnset = absentWhen((value) => value === "", "");

/** The service's way to write a time that has not come. */
const ZERO_TIME = "0001-01-01T00:00:00Z";

/** A time in an answer as the service writes it; the zero time is absent. */
export const answeredTime = absentWhen(isUnsetTime, ZERO_TIME);

/** The result of transforming an answer: the answer was checked before, and the result is not checked again. */
export const madeOf = <A>() => Schema.declare((_value: unknown): _value is A => true);

/** A list in an answer; missing and null decode to no items. */
export const answeredList = <Item extends Schema.Top>(item: Item) =>
  Schema.optionalKey(Schema.NullOr(Schema.Array(item))).pipe(
    Schema.decodeTo(madeOf<ReadonlyArray<Item["Type"]>>(), {
      decode: SchemaGetter.transformOptional(
        (items: Option.Option<ReadonlyArray<Item["Type"]> | null>) =>
          Option.some(Option.getOrNull(items) ?? []),
      ),
      encode: SchemaGetter.passthroughSubtype(),
    }),
  );

const wireNamesKey = "@durable-payments/api-core/wireNames";

const renamed = (
  fields: Readonly<Record<string, unknown>>,
  names: ReadonlyMap<string, string>,
): Record<string, unknown> => {
  // Each row of a list comes here: a loop costs a third of entries that are mapped.
  const given: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) given[names.get(name) ?? name] = fields[name];
  return given;
};

/**
 * A struct with other names for some of its fields on the wire. (`Schema.encodeKeys` checks the wire's fields
 * against their documented form first, so that one odd field would hide the rest.)
 */
export const withWireNames = <
  S extends Schema.Top & Pick<Schema.Struct<Schema.Struct.Fields>, "fields">,
>(
  struct: S,
  names: Readonly<Record<string, string>>,
) => {
  const toWire = new Map(Object.entries(names));
  const toOurs = new Map([...toWire].map(([ours, wire]) => [wire, ours] as const));
  // The fields of the struct under other names; the contract's need no services.
  const fields = renamed(struct.fields, toWire) as Record<string, Schema.Codec<unknown, unknown>>;
  const written = Schema.Struct(fields);
  return written
    .pipe(
      Schema.decodeTo(madeOf<S["Type"]>(), {
        decode: SchemaGetter.transform((fields) => renamed(fields, toOurs) as S["Type"]),
        encode: SchemaGetter.transform((value) =>
          renamed(value as Readonly<Record<string, unknown>>, toWire),
        ),
      }),
    )
    .annotate({ [wireNamesKey]: names });
};

/** The names that {@link withWireNames} gave to fields of an answer, or of what is in it: ours to the wire's. */
export const wireNamesIn = (ast: SchemaAST.AST): Readonly<Record<string, string>> => {
  // Only `withWireNames` writes this key.
  const names = SchemaAST.resolve(ast)?.[wireNamesKey] as Record<string, string> | undefined;
  const parts = [
    ...(SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ type }) => type) : []),
    ...(SchemaAST.isArrays(ast) ? ast.rest : []),
    ...(SchemaAST.isUnion(ast) ? ast.types : []),
    ...(ast.encoding ?? []).map(({ to }) => to),
  ];
  return Object.assign({}, ...parts.map(wireNamesIn), names) as Record<string, string>;
};
