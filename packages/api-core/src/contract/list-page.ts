import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";
import { isRecord } from "../values.ts";
import { enveloped } from "./envelope.ts";
import { answeredList, madeOf, orAbsent } from "./fields.ts";

/** A row of a list that has no readable id. */
export interface UnreadableRow extends Schema.Struct.Type<typeof UnreadableRowSchema.fields> {}
const UnreadableRowSchema = Schema.Opaque<UnreadableRow>()(
  Schema.Struct({
    /** The fault of the row, after "the row ". */
    reason: Schema.String,
    /** The row as it came, for checks of what it cannot be; not to be logged. */
    fields: Schema.Record(Schema.String, Schema.Unknown),
  }),
);

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
