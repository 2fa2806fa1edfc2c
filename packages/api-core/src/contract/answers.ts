import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import * as SchemaAST from "effect/SchemaAST";
import * as SchemaGetter from "effect/SchemaGetter";
import { isRecord } from "../values.ts";
import { isUnsetTime } from "./times.ts";
import { type Named, named } from "./rules.ts";

/** `code` of an envelope that reports success. */
export const SUCCESS_CODE = 200;

/** `code` of an envelope that reports a refusal. */
export const REFUSAL_CODE = 400;

/** Answer of the service that refuses a request: `{"code":400,"message":"…"}`. */
export class Refusal extends Schema.Error<Refusal>("Refusal")(
  { code: Schema.Finite, message: Schema.String },
  { httpApiStatus: REFUSAL_CODE },
) {}

/** The result of transforming an answer: the answer was checked before, and the result is not checked again. */
export const madeOf = <A>() => Schema.declare((_value: unknown): _value is A => true);

/**
 * The envelope of a successful answer around `data`. Decodes to the data alone.
 *
 * Source: service interface, "Response envelope".
 */
export const enveloped = <Data extends Schema.Top>(data: Data) =>
  Schema.Struct({ code: Schema.Literal(SUCCESS_CODE), message: Schema.String, data }).pipe(
    Schema.decodeTo(madeOf<Data["Type"]>(), {
      // The struct's type stays unresolved while `Data` is generic.
      decode: SchemaGetter.transform((envelope) => (envelope as { data: Data["Type"] }).data),
      encode: SchemaGetter.transform((made) => ({
        code: SUCCESS_CODE,
        message: "Success",
        data: made,
      })),
    }),
  );

/**
 * The envelope of an operation that only confirms: no `data` is expected, any is ignored.
 *
 * `Undefined`, as a server answers `Void` with no body at all.
 */
export const confirmed = Schema.Struct({
  code: Schema.Literal(SUCCESS_CODE),
  message: Schema.String,
}).pipe(
  Schema.decodeTo(Schema.Undefined, {
    decode: SchemaGetter.transform(() => undefined),
    encode: SchemaGetter.transform(() => ({ code: SUCCESS_CODE, message: "Success" }) as const),
  }),
);

/** Ways to write that there is no id. */
const NO_ID = /^\s*(0+|-+|null|nil|none|undefined|n\/a)?\s*$/i;

const isNoId = (text: string): boolean => NO_ID.test(text);

/** A field without which an answer means nothing; a number becomes its text. */
export const answered = Schema.String;

/** An id in an answer; an empty one, `0` or `null` is not an id. */
export const answeredId = Schema.String.check(Schema.makeFilter((text) => !isNoId(text)));

/** A field of an answer that may be unset: missing, null, empty, and neither text nor number, it is absent. */
export const answeredOrUnset = Schema.optionalKey(Schema.String);

/** A time in an answer as the service writes it; the zero time is absent. */
export const answeredTime = Schema.optionalKey(Schema.String);

/** Whether a number has the service's own digits: beyond these bounds some of them are lost. */
const isExact = (value: number): boolean =>
  Number.isSafeInteger(Math.trunc(value)) && !String(value).includes("e");

const readText = (written: unknown): string | undefined => {
  if (typeof written === "string") return written;
  return typeof written === "number" && isExact(written) ? String(written) : undefined;
};

const readUnless =
  (isUnset: (text: string) => boolean) =>
  (written: unknown): string | undefined => {
    const text = readText(written);
    return text === undefined || isUnset(text) ? undefined : text;
  };

/** How the fields above are read from what the service may write, and how it writes that one is unset. */
const texts = new Map<
  Schema.Constraint,
  { readonly read: (written: unknown) => unknown; readonly unset?: string }
>([
  [answered, { read: readText }],
  [answeredId, { read: readUnless(isNoId) }],
  [answeredOrUnset, { read: readUnless((text) => text === ""), unset: "" }],
  [answeredTime, { read: readUnless(isUnsetTime), unset: "0001-01-01T00:00:00Z" }],
]);

/** A struct whose fields need no services. */
export type AnswerStruct = Schema.Codec<unknown, unknown> & {
  readonly fields: Schema.Struct.Fields;
};

/** HttpApi would look for values that are not JSON in all of `Unknown`. */
const Anything: Schema.Codec<unknown> = Schema.Any;

/**
 * An object in an answer. A field that cannot be read is absent: it must not hide the id of something that was created.
 * All fields are read in one step, which takes a tenth of the time of a transformation for each.
 *
 * @param names the fields that have other names on the wire: ours to the wire's
 */
export const answer = <S extends AnswerStruct>(
  struct: S,
  names: Readonly<Record<string, string>> = {},
): Schema.Codec<S["Type"], unknown> => {
  const fields = Object.entries(struct.fields).map(([name, schema]) => ({
    name,
    wireName: names[name] ?? name,
    schema,
    ...(texts.get(schema) ?? { read: (written: unknown) => written, unset: undefined }),
  }));
  const required = fields.filter(({ schema }) => !SchemaAST.isOptional(schema.ast));
  const written = Anything.check(
    Schema.makeFilter(
      (row) =>
        isRecord(row) && required.every(({ read, wireName }) => read(row[wireName]) !== undefined),
      {
        toJsonSchema: () => {
          const named = fields.map(({ schema, wireName }) => [wireName, schema]);
          return Schema.toJsonSchemaDocument(Schema.Struct(Object.fromEntries(named))).schema;
        },
      },
    ),
  );
  // Texts that have been read need no second check.
  const made = fields.every(({ schema }) => texts.has(schema)) ? madeOf<S["Type"]>() : struct;
  return written.pipe(
    Schema.decodeTo<Schema.Codec<S["Type"], unknown>, typeof written>(made, {
      decode: SchemaGetter.transform((row) => {
        const given: Record<string, unknown> = {};
        for (const { name, read, wireName } of fields) {
          const value = read((row as Readonly<Record<string, unknown>>)[wireName]);
          if (value !== undefined) given[name] = value;
        }
        return given;
      }),
      encode: SchemaGetter.transform((given) => {
        const row: Record<string, unknown> = {};
        for (const { name, unset, wireName } of fields) {
          const value = (given as Readonly<Record<string, unknown>>)[name] ?? unset;
          if (value !== undefined) row[wireName] = value;
        }
        return row;
      }),
    }),
  );
};

/** Reads what an optional field of an answer cannot be read as, as absent. */
export const orAbsent = <S extends Schema.Top>(field: S) =>
  field.pipe(Schema.catchDecoding(() => Effect.succeedNone));

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

/** A row of a list that has no readable id. */
export interface UnreadableRow extends Named<typeof UnreadableRowSchema> {}
const UnreadableRowSchema = named<UnreadableRow>()({
  /** The fault of the row, after "the row ". */
  reason: Schema.String,
  /** The row as it came, for checks of what it cannot be; not to be logged. */
  fields: Schema.Record(Schema.String, Schema.Unknown),
});

/** A page of a list. */
export interface Page<Item> {
  /** How many items the whole list has; absent if the answer does not say it as a number. */
  readonly total_item?: number;
  /** How many pages the whole list has; absent if the answer does not say it as a number. */
  readonly total_page?: number;
  /** The items of this page. */
  readonly item_list: ReadonlyArray<Item>;
  /** The rows of this page that cannot be read. */
  readonly unreadable: ReadonlyArray<UnreadableRow>;
}

/** A row as it came, when nothing else can read it. */
export const AnyRow = Schema.Unknown.pipe(
  Schema.decodeTo(UnreadableRowSchema, {
    decode: SchemaGetter.transform((row) =>
      isRecord(row)
        ? { reason: "has no readable id", fields: row }
        : { reason: "is not an object", fields: {} },
    ),
    encode: SchemaGetter.transform(({ fields }: UnreadableRow): unknown => fields),
  }),
);

/** A row of a list: an unreadable row must not hide the others. */
export const rowOf = <Item extends Schema.Top>(item: Item) => Schema.Union([item, AnyRow]);

/** Whether `rowOf` could not read a row. */
const isUnreadable = (row: unknown): row is UnreadableRow =>
  isRecord(row) && "reason" in row && "fields" in row;

/** A number of items or pages; a text is not one, as nobody knows what else it may hold. */
const Count = orAbsent(Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))));

/**
 * A page of a list: the items of this page, how many items and pages there are (absent if the answer does not
 * say it as a number), and the rows that cannot be read.
 */
export const page = <Item extends Schema.Top>(item: Item) => {
  const totals = { total_item: Count, total_page: Count };
  const written = Schema.Struct({ ...totals, item_list: answeredList(rowOf(item)) });
  return enveloped(
    written.pipe(
      Schema.decodeTo(madeOf<Page<Item["Type"]>>(), {
        decode: SchemaGetter.transform(({ item_list, ...given }) => ({
          ...given,
          item_list: item_list.filter((row): row is Item["Type"] => !isUnreadable(row)),
          unreadable: item_list.filter(isUnreadable),
        })),
        encode: SchemaGetter.transform(({ unreadable: _, ...given }) => given),
      }),
    ),
  );
};
