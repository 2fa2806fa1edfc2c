import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";
import { isRecord } from "../values.ts";
import {
  decodedBy,
  IGNORED,
  type LenientDecoder,
  lenientDecoder,
  UNREADABLE,
} from "./lenient-decoder.ts";

const parsed = (details: unknown): unknown => {
  if (typeof details !== "string") return details;
  try {
    return JSON.parse(details);
  } catch {
    return undefined;
  }
};

const lenientDetails = (schema: Schema.Top): LenientDecoder | undefined => {
  const decode = lenientDecoder(schema);
  return (
    decode &&
    ((wire, ignored) => {
      if (wire === undefined || wire === null || wire === "") return undefined;
      const decoded = decode(parsed(wire), ignored);
      return decoded === UNREADABLE ? IGNORED : decoded;
    })
  );
};

/**
 * Details inside an answer: an object, or its JSON as a text. What is neither decodes to absent: it
 * must not hide the id of a beneficiary that was created.
 */
const details = <S extends Schema.Top>(schema: S, write: (encoded: S["Encoded"]) => unknown) =>
  decodedBy(
    Schema.optionalKey(Schema.Unknown).pipe(
      Schema.decodeTo(Schema.optionalKey(schema), {
        decode: SchemaGetter.transformOptional((given: Option.Option<unknown>) =>
          Option.filter(
            // That it is such an object is found by the schema that this leads to.
            Option.map(given, parsed) as Option.Option<S["Encoded"]>,
            isRecord,
          ),
        ),
        encode: SchemaGetter.transformOptional(Option.map(write)),
      }),
    ),
    lenientDetails(schema),
  );

/** Details as the create answer carries them: JSON texts. */
export const asJsonText = <S extends Schema.Top>(schema: S) => details(schema, JSON.stringify);

/** Details as the retrieve answer carries them: objects. */
export const asObject = <S extends Schema.Top>(schema: S) => details(schema, (encoded) => encoded);
