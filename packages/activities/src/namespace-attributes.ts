import { type SearchAttribute, searchAttributes } from "@durable-payments/protocol";
import type { OperatorService } from "@temporalio/client";
import proto from "@temporalio/proto";

const { IndexedValueType } = proto.temporal.api.enums.v1;

/** Types of search attributes, as Temporal's CLI names them. */
const TYPE_NAMES: Partial<Readonly<Record<number, string>>> = {
  [IndexedValueType.INDEXED_VALUE_TYPE_TEXT]: "Text",
  [IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD]: "Keyword",
  [IndexedValueType.INDEXED_VALUE_TYPE_INT]: "Int",
  [IndexedValueType.INDEXED_VALUE_TYPE_DOUBLE]: "Double",
  [IndexedValueType.INDEXED_VALUE_TYPE_BOOL]: "Bool",
  [IndexedValueType.INDEXED_VALUE_TYPE_DATETIME]: "Datetime",
  [IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST]: "KeywordList",
};

/** A search attribute that the workflows need, and its type as Temporal's CLI names it. */
export interface NeededAttribute {
  /** Name of the search attribute. */
  readonly name: string;
  /** Its type: `Keyword`, `Datetime`, … */
  readonly type: string;
}

/** Which of the search attributes that the workflows need a namespace has. */
export interface NamespaceAttributes {
  /** Those that it has. */
  readonly registered: ReadonlyArray<NeededAttribute>;
  /** Those that it lacks. */
  readonly missing: ReadonlyArray<NeededAttribute>;
  /** Registered with another type, which cannot be changed. */
  readonly wrong: ReadonlyArray<NeededAttribute & { readonly found: string }>;
}

const typeOf = ({ type }: Pick<SearchAttribute<"KEYWORD" | "KEYWORD_LIST">, "type">) =>
  IndexedValueType[`INDEXED_VALUE_TYPE_${type}`];

/** The type of each search attribute, as Temporal's API numbers it. */
const TYPES = new Map(searchAttributes.map((key) => [key.name, typeOf(key)]));

/**
 * Read which of the search attributes that the workflows need a namespace has.
 *
 * @param operatorService of a connection to Temporal.
 * @param namespace whose attributes are read.
 * @returns each that is needed, by whether it is there.
 * @throws the error of Temporal's operator service.
 */
export const readNamespaceAttributes = async (
  operatorService: Pick<OperatorService, "listSearchAttributes">,
  namespace: string,
): Promise<NamespaceAttributes> => {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const all = searchAttributes.map((key) => {
    const found = customAttributes[key.name];
    return {
      name: key.name,
      type: TYPE_NAMES[typeOf(key)] ?? key.type,
      found: found === undefined ? undefined : (TYPE_NAMES[found] ?? "unknown"),
    };
  });
  const needed = ({ name, type }: NeededAttribute): NeededAttribute => ({ name, type });
  return {
    registered: all.filter(({ found, type }) => found === type).map(needed),
    missing: all.filter(({ found }) => found === undefined).map(needed),
    wrong: all.flatMap(({ found, name, type }) =>
      found === undefined || found === type ? [] : [{ name, type, found }],
    ),
  };
};

/**
 * Register search attributes in a namespace. One that is there already stays as it is.
 *
 * @param operatorService of a connection to Temporal.
 * @param namespace that gets them.
 * @param attributes as `readNamespaceAttributes` returns those that are missing.
 * @throws the error of Temporal's operator service, such as where its store has no room for more.
 */
export const registerNamespaceAttributes = async (
  operatorService: Pick<OperatorService, "addSearchAttributes">,
  namespace: string,
  attributes: ReadonlyArray<NeededAttribute>,
): Promise<void> => {
  await operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(
      attributes.flatMap(({ name }) => {
        const type = TYPES.get(name);
        return type === undefined ? [] : [[name, type] as const];
      }),
    ),
  });
};
