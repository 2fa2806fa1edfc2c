import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";
import { enveloped } from "./envelope.ts";
import { decodedBy, fieldsOf, lenientDecoder, UNREADABLE } from "./lenient-decoder.ts";

const unreadableRowFields = {
  /** What is wrong with it, after "the row ". */
  reason: Schema.String,
  /** The row as it came, for checks of what it cannot be; not to be logged. */
  fields: Schema.Record(Schema.String, Schema.Unknown),
};

/** A row of a list that has no id that can be read. */
export interface UnreadableRow extends Schema.Struct.Type<typeof unreadableRowFields> {}

/** Schema of {@link UnreadableRow}. */
export class UnreadableRowSchema extends Schema.Opaque<UnreadableRow>()(
  Schema.Struct(unreadableRowFields),
) {}

/** A page of a list. */
export interface Page<Item> {
  /** How many items the whole list has; absent where the answer does not say it as a number. */
  readonly total_item?: number;
  /** How many pages the whole list has; absent where the answer does not say it as a number. */
  readonly total_page?: number;
  /** The items of this page. */
  readonly item_list: ReadonlyArray<Item>;
  /** The rows of this page that cannot be read. */
  readonly unreadable: ReadonlyArray<UnreadableRow>;
}

const unreadable = (row: unknown): UnreadableRow => {
  const fields = fieldsOf(row);
  return fields === undefined
    ? { reason: "is not an object", fields: {} }
    : { reason: "has no id that can be read", fields };
};

/** How many items or pages there are. */
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0));

/** A number of items or pages; a text is none, as nobody knows what else it may hold. */
const count = (wire: unknown, name: string, ignored: Set<string>): Record<string, unknown> => {
  if (typeof wire === "number" && Number.isSafeInteger(wire) && wire >= 0) return { [name]: wire };
  if (wire !== undefined) ignored.add(name);
  return {};
};

/**
 * A page of a list: the items of this page, how many items and pages there are (absent where the
 * answer does not say it as a number), and the rows that cannot be read.
 */
export const page = <Item extends Schema.Top>(item: Item) => {
  const decodeItem = lenientDecoder(item);
  const totals = { total_item: Schema.optionalKey(Count), total_page: Schema.optionalKey(Count) };
  const written = Schema.Struct({
    ...totals,
    item_list: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.toEncoded(item)))),
  });
  const read = Schema.Opaque<Page<Item["Type"]>>()(
    Schema.Struct({
      ...totals,
      item_list: Schema.Array(item),
      unreadable: Schema.Array(UnreadableRowSchema),
    }),
  );
  const schema = written.pipe(
    Schema.decodeTo(read, {
      decode: SchemaGetter.transform(({ item_list, ...given }) => ({
        ...given,
        item_list: item_list ?? [],
        unreadable: [],
      })),
      encode: SchemaGetter.transform(({ unreadable: _, ...given }) => given),
    }),
  );
  return enveloped(
    decodedBy(
      schema,
      decodeItem &&
        ((wire, ignored) => {
          const given = fieldsOf(wire);
          const rows: unknown = given?.["item_list"] ?? [];
          if (given === undefined || !Array.isArray(rows)) return UNREADABLE;
          const decoded = rows.map((row: unknown) => decodeItem(row, ignored));
          return {
            ...count(given["total_item"], "total_item", ignored),
            ...count(given["total_page"], "total_page", ignored),
            item_list: decoded.filter((one) => one !== UNREADABLE),
            unreadable: rows.filter((_, index) => decoded[index] === UNREADABLE).map(unreadable),
          };
        }),
    ),
  );
};
