import * as Schema from "effect/Schema";
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint";
import * as HttpApiGroup from "effect/http-api/HttpApiGroup";
import { confirmed, enveloped, Refusal } from "./envelope.ts";
import {
  answeredId,
  answeredOrUnset,
  answeredTime,
  CalendarDate,
  optionalText,
  PageNumber,
  pageSize,
  PathSegment,
  text,
} from "./fields.ts";
import { page } from "./list-page.ts";
import { ItemId, MaxPageSize, Idempotency } from "./operation-facts.ts";
import { decodedBy, IGNORED } from "./lenient-decoder.ts";
import { SignedIn } from "./signed-in.ts";

/** State of the identity check as requests and filters write it. */
const CardholderStatusNumber = Schema.Literals([-1, 0, 1, 2]);

/** Body of createCardholder. `card_holder_status`: -1 FAILED, 0 PENDING, 1 SUCCESS, 2 INCOMPLETE. */
const CreateCardholder = Schema.Struct({
  email: text(),
  first_name: text(50),
  last_name: text(50),
  date_birth: CalendarDate,
  phone_number: text(50),
  residential_address: optionalText(),
  // The document does not show its name; see the assumption `deliveryAddressField`.
  delivery_address: optionalText(),
  card_holder_status: CardholderStatusNumber,
});

/** Answer of createCardholder. */
const CreatedCardholder = Schema.Struct({ card_holder_id: answeredId });

const CARDHOLDERS_PAGE_SIZE = 50;

/** Filters of listCardholders; on the wire some have other names, see the assumptions. */
const ListCardholders = Schema.Struct({
  page_num: PageNumber,
  page_size: pageSize(CARDHOLDERS_PAGE_SIZE),
  direct_account_id: Schema.optionalKey(text()),
  card_account_id: Schema.optionalKey(text()),
  card_holder_status: Schema.optionalKey(CardholderStatusNumber),
  name: Schema.optionalKey(text()),
});

/** A person who may own cards. `card_holder_status` is kept as the service writes it: `SUCCESS`. */
export const Cardholder = Schema.Struct({
  card_holder_id: answeredId,
  card_holder_status: answeredOrUnset,
  /** How many cards, or which: the document says only that it is a number. */
  card_num: decodedBy(
    Schema.optionalKey(Schema.NullOr(Schema.Union([Schema.Finite, Schema.String]))),
    (wire) =>
      wire === undefined || wire === null || typeof wire === "string" || Number.isFinite(wire)
        ? wire
        : IGNORED,
  ),
  first_name: answeredOrUnset,
  last_name: answeredOrUnset,
  create_time: answeredTime,
  update_time: answeredTime,
});

/** A person who may own cards. */
export type Cardholder = typeof Cardholder.Type;

/** Source: service interface, "Cardholders". */
export const cardholders = HttpApiGroup.make("cardholders", { topLevel: true })
  .add(
    HttpApiEndpoint.post("createCardholder", "/api/v1/cardholders/create", {
      payload: CreateCardholder,
      success: enveloped(CreatedCardholder),
      error: Refusal,
    }).annotate(Idempotency, "none"),
    HttpApiEndpoint.get("listCardholders", "/api/v1/cardholders", {
      query: ListCardholders,
      success: page(Cardholder),
      error: Refusal,
    })
      .annotate(Idempotency, "safe")
      .annotate(MaxPageSize, CARDHOLDERS_PAGE_SIZE)
      .annotate(ItemId, "card_holder_id"),
    HttpApiEndpoint.post("removeCardholder", "/api/v1/cardholders/:card_holder_id/remove", {
      params: { card_holder_id: PathSegment },
      payload: Schema.Struct({}),
      success: confirmed,
      error: Refusal,
    }).annotate(Idempotency, "idempotent"),
  )
  .middleware(SignedIn);
