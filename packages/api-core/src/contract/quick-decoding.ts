import { Schema, SchemaAST } from "effect";

/** The answer of a {@link QuickDecoder} that leaves the value to the schema. */
export const UNSURE: unique symbol = Symbol("unsure");

/**
 * Decodes a value of an answer in one step: to what the schema decodes it to, undefined where that
 * is an absent field, or `UNSURE`. A schema's own way, step by step, costs ten times as much.
 */
export type QuickDecoder = (wire: unknown) => unknown;

const decoders = new WeakMap<Schema.Top, QuickDecoder>();

/** Adds a quick decoder to a schema, which it must agree with wherever it is not `UNSURE`. */
export const decodedBy = <S extends Schema.Top>(
  schema: S,
  decoder: QuickDecoder | undefined,
): S => {
  if (decoder !== undefined) decoders.set(schema, decoder);
  return schema;
};

const isPlainStruct = (schema: Schema.Top): schema is Schema.Struct<Schema.Struct.Fields> =>
  "fields" in schema &&
  SchemaAST.isObjects(schema.ast) &&
  schema.ast.checks === undefined &&
  schema.ast.encoding === undefined;

/** The quick decoder of a schema: its own, or that of a struct of which every field has one. */
export const quickDecoder = (schema: Schema.Top): QuickDecoder | undefined =>
  decoders.get(schema) ?? (isPlainStruct(schema) ? structDecoder(schema.fields, {}) : undefined);

/** For a struct whose fields have other names on the wire, as {@link Schema.encodeKeys} takes them. */
const structDecoder = (
  fields: Schema.Struct.Fields,
  wireNames: Readonly<Record<string, string | undefined>>,
): QuickDecoder | undefined => {
  const names = Object.keys(fields);
  const plan = names.flatMap((name) => {
    // Every field of the contract is a whole schema.
    const decode = quickDecoder(fields[name] as Schema.Top);
    return decode === undefined ? [] : [{ name, wireName: wireNames[name] ?? name, decode }];
  });
  if (plan.length < names.length) return undefined;
  return (wire) => {
    if (typeof wire !== "object" || wire === null || Array.isArray(wire)) return UNSURE;
    // An object; its fields stay unknown.
    const given = wire as Readonly<Record<string, unknown>>;
    const decoded: Record<string, unknown> = {};
    for (const { decode, name, wireName } of plan) {
      const value = decode(given[wireName]);
      if (value === UNSURE) return UNSURE;
      if (value !== undefined) decoded[name] = value;
    }
    return decoded;
  };
};

/** `struct` with other names for some of its fields on the wire. */
export const withWireNames = <
  Fields extends Schema.Struct.Fields,
  const Names extends { readonly [Name in keyof Fields]?: string },
>(
  struct: Schema.Struct<Fields>,
  names: Names,
) => decodedBy(struct.pipe(Schema.encodeKeys(names)), structDecoder(struct.fields, names));

const answerKey = "@durable-payments/api-core/quickDecoder";

/**
 * Adds the quick decoder of a whole answer, as an annotation: an endpoint takes a copy of its
 * schemas. A schema that is made of another has that one's annotations, so that only the outermost
 * may carry it.
 */
export const answeredBy = <S extends Schema.Top>(
  schema: S,
  decoder: QuickDecoder | undefined,
): S["Rebuild"] => schema.annotate({ [answerKey]: decoder });

/** The quick decoder of an endpoint's answer. */
export const answerDecoder = (schema: Schema.Top): QuickDecoder | undefined =>
  // Only `answeredBy` writes this key.
  Schema.resolveAnnotations(schema)?.[answerKey] as QuickDecoder | undefined;

/** Quick decoder of a list whose items have one. */
export const listDecoder = (item: Schema.Top): QuickDecoder | undefined => {
  const decode = quickDecoder(item);
  if (decode === undefined) return undefined;
  return (wire) => {
    if (!Array.isArray(wire)) return UNSURE;
    const decoded: Array<unknown> = [];
    for (const one of wire) {
      const value = decode(one);
      if (value === UNSURE) return UNSURE;
      decoded.push(value);
    }
    return decoded;
  };
};
