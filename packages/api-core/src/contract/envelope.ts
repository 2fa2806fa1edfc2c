import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";
import { madeOf } from "./fields.ts";

/** `code` of an envelope that reports success. */
export const SUCCESS_CODE = 200;

/** `code` of an envelope that reports a refusal. */
export const REFUSAL_CODE = 400;

/** Answer of the service that refuses a request: `{"code":400,"message":"…"}`. */
export class Refusal extends Schema.Error<Refusal>("Refusal")(
  { code: Schema.Finite, message: Schema.String },
  { httpApiStatus: REFUSAL_CODE },
) {}

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
