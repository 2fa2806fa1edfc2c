import * as Schema from "effect/Schema";
import * as SchemaAST from "effect/SchemaAST";
import { isRecord } from "../values.ts";

/** The answer of a {@link LenientDecoder} where the value has nothing that can be used. */
export const UNREADABLE: unique symbol = Symbol("unreadable");

/** The answer of a {@link LenientDecoder} for an optional value that cannot be read: it is absent. */
export const IGNORED: unique symbol = Symbol("ignored");

/**
 * Decodes a value of an answer in one step: to what the schema decodes it to, undefined where that
 * is an absent field, `IGNORED` or `UNREADABLE`. It takes more than the schema, which is the
 * documented shape, and costs a tenth of it. Wire names of fields that are `IGNORED` are added to
 * `ignored`.
 */
export type LenientDecoder = (wire: unknown, ignored: Set<string>) => unknown;

const decoders = new WeakMap<Schema.Top, LenientDecoder>();

/** Add a lenient decoder to a schema, which it must agree with wherever the schema decodes. */
export const decodedBy = <S extends Schema.Top>(
  schema: S,
  decoder: LenientDecoder | undefined,
): S => {
  if (decoder !== undefined) decoders.set(schema, decoder);
  return schema;
};

const isPlainStruct = (schema: Schema.Top): schema is Schema.Struct<Schema.Struct.Fields> =>
  "fields" in schema &&
  SchemaAST.isObjects(schema.ast) &&
  schema.ast.checks === undefined &&
  schema.ast.encoding === undefined;

/** The lenient decoder of a schema: its own, or that of a struct of which every field has one. */
export const lenientDecoder = (schema: Schema.Top): LenientDecoder | undefined =>
  decoders.get(schema) ?? (isPlainStruct(schema) ? structDecoder(schema.fields, {}) : undefined);

/** The fields of a JSON object; undefined for anything else. */
export const fieldsOf = (wire: unknown): Readonly<Record<string, unknown>> | undefined =>
  isRecord(wire) ? wire : undefined;

/** For a struct whose fields have other names on the wire, as {@link Schema.encodeKeys} takes them. */
const structDecoder = (
  fields: Schema.Struct.Fields,
  wireNames: Readonly<Record<string, string | undefined>>,
): LenientDecoder | undefined => {
  const names = Object.keys(fields);
  const plan = names.flatMap((name) => {
    // Every field of the contract is a whole schema.
    const decode = lenientDecoder(fields[name] as Schema.Top);
    return decode === undefined ? [] : [{ name, wireName: wireNames[name] ?? name, decode }];
  });
  if (plan.length < names.length) return undefined;
  return (wire, ignored) => {
    const given = fieldsOf(wire);
    if (given === undefined) return UNREADABLE;
    const decoded: Record<string, unknown> = {};
    for (const { decode, name, wireName } of plan) {
      const value = decode(given[wireName], ignored);
      if (value === UNREADABLE) return UNREADABLE;
      if (value === IGNORED) ignored.add(wireName);
      else if (value !== undefined) decoded[name] = value;
    }
    return decoded;
  };
};

const wireNamesKey = "@durable-payments/api-core/wireNames";

/** `struct` with other names for some of its fields on the wire. */
export const withWireNames = <
  S extends Schema.Top & { readonly fields: Schema.Struct.Fields },
  const Names extends { readonly [Name in keyof S["fields"]]?: string },
>(
  struct: S,
  names: Names,
) => {
  const renamed = struct.pipe(Schema.encodeKeys(names));
  // An annotation changes no type.
  const annotated = renamed.annotate({ [wireNamesKey]: names }) as typeof renamed;
  return decodedBy(annotated, structDecoder(struct.fields, names));
};

/** The names that {@link withWireNames} gave to fields of an answer, or of what is in it: ours to the wire's. */
export const wireNamesIn = (ast: SchemaAST.AST): Readonly<Record<string, string>> => {
  // Only `withWireNames` writes this key.
  const names = SchemaAST.resolve(ast)?.[wireNamesKey] as Record<string, string> | undefined;
  const parts = SchemaAST.isObjects(ast)
    ? ast.propertySignatures.map(({ type }) => type)
    : SchemaAST.isArrays(ast)
      ? ast.rest
      : [];
  return Object.assign({}, ...parts.map(wireNamesIn), names) as Record<string, string>;
};

const answerKey = "@durable-payments/api-core/lenientDecoder";

/**
 * Add the lenient decoder of a whole answer, as an annotation: an endpoint takes a copy of its
 * schemas. A schema that is made of another has that one's annotations, so that only the outermost
 * may carry it.
 */
export const answeredBy = <S extends Schema.Top>(
  schema: S,
  decoder: LenientDecoder | undefined,
): S["Rebuild"] => schema.annotate({ [answerKey]: decoder });

/** The lenient decoder of an endpoint's answer. */
export const answerDecoder = (schema: Schema.Top): LenientDecoder | undefined =>
  // Only `answeredBy` writes this key.
  Schema.resolveAnnotations(schema)?.[answerKey] as LenientDecoder | undefined;
