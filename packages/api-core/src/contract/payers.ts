import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint";
import * as HttpApiGroup from "effect/http-api/HttpApiGroup";
import { enveloped, Refusal } from "./envelope.ts";
import { answeredId, answeredOrUnset } from "./fields.ts";
import { Idempotency } from "./operation-facts.ts";
import {
  decodedBy,
  fieldsOf,
  type LenientDecoder,
  lenientDecoder,
  UNREADABLE,
} from "./lenient-decoder.ts";
import { SignedIn } from "./signed-in.ts";

/** Who pays a payout out of the account. */
export const Payer = Schema.Struct({
  payer_id: answeredId,
  entity_type: answeredOrUnset,
  company_name: answeredOrUnset,
  first_name: answeredOrUnset,
  last_name: answeredOrUnset,
  address: answeredOrUnset,
  city: answeredOrUnset,
  state_or_province: answeredOrUnset,
  country: answeredOrUnset,
  postal_code: answeredOrUnset,
  date_of_birth: answeredOrUnset,
  identification_type: answeredOrUnset,
  identification_value: answeredOrUnset,
});

/** Who pays a payout out of the account. */
export type Payer = typeof Payer.Type;

const item = Schema.toEncoded(Payer);
const nested = Schema.Struct({ data: Schema.NullOr(Schema.Union([Schema.Array(item), item])) });

const unnest = (listed: typeof item.Type | typeof nested.Type): ReadonlyArray<typeof item.Type> => {
  if (!("data" in listed)) return [listed];
  const { data } = listed;
  if (data === null) return [];
  return "payer_id" in data ? [data] : data;
};

const decodePayer = lenientDecoder(Payer);

/** The payers of an answer; what has no id that can be read is left out, with a note. */
const lenientPayers: LenientDecoder = (wire, ignored) => {
  if (wire === null) return [];
  if (!Array.isArray(wire)) return UNREADABLE;
  return wire.flatMap((row: unknown): ReadonlyArray<unknown> => {
    const fields = fieldsOf(row) ?? {};
    if ("data" in fields && !("payer_id" in fields)) {
      const nested = lenientPayers([fields["data"] ?? []].flat(), ignored);
      return Array.isArray(nested) ? nested : [];
    }
    const payer = decodePayer?.(row, ignored);
    if (payer !== UNREADABLE) return [payer];
    ignored.add("payer_id");
    return [];
  });
};

/** The service's sample nests envelopes inside the array of payers; both forms decode to payers. */
const Payers = decodedBy(
  Schema.NullOr(Schema.Array(Schema.Union([item, nested]))).pipe(
    Schema.decodeTo(Schema.Array(Payer), {
      decode: SchemaGetter.transform((listed) => (listed ?? []).flatMap(unnest)),
      encode: SchemaGetter.passthroughSubtype(),
    }),
  ),
  lenientPayers,
);

/** Source: service interface, "Payers". */
export const payers = HttpApiGroup.make("payers", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listPayers", "/api/v1/payers", {
      success: enveloped(Payers),
      error: Refusal,
    }).annotate(Idempotency, "safe"),
  )
  .middleware(SignedIn);
