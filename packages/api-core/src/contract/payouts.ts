import * as Schema from "effect/Schema";
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint";
import * as HttpApiGroup from "effect/http-api/HttpApiGroup";
import { EntityType } from "./beneficiaries.ts";
import { enveloped, Refusal } from "./envelope.ts";
import {
  Amount,
  answeredId,
  answeredOrUnset,
  answeredTime,
  CalendarDate,
  CountryCode,
  CurrencyCode,
  optionalText,
  PageNumber,
  pageSize,
  PathSegment,
  RangeBound,
  text,
  UniqueRequestId,
} from "./fields.ts";
import { page } from "./list-page.ts";
import { ItemId, MaxPageSize, Idempotency } from "./operation-facts.ts";
import { withWireNames } from "./lenient-decoder.ts";
import { given, type RawRequest, requiredWhen, type Rule, withRules } from "./rules.ts";
import { SignedIn } from "./signed-in.ts";

/** Documents that identify a payer who is a person. */
const INDIVIDUAL_IDENTIFICATIONS = ["passport", "drivers_license", "national_id"] as const;

/** The document that identifies a payer which is a company. */
const COMPANY_IDENTIFICATIONS = ["incorporation_number"] as const;

const isPayer = (type: "company" | "individual") => (request: RawRequest) =>
  given(request, "entity_type") === type;

const identificationFitsThePayer: Rule = (request) => {
  const entity = given(request, "entity_type");
  const allowed: ReadonlyArray<string> =
    entity === "company" ? COMPANY_IDENTIFICATIONS : INDIVIDUAL_IDENTIFICATIONS;
  const type = given(request, "identification_type");
  return entity === "" || type === "" || allowed.includes(type)
    ? []
    : [
        {
          field: "identification_type",
          problem: `must be ${allowed.join(", ")} for entity_type ${entity}`,
        },
      ];
};

/** Body of createPayout. The payer's and the beneficiary's currency must be the same. */
const CreatePayout = withRules(
  Schema.Struct({
    currency: CurrencyCode,
    amount: Amount,
    payout_reason: text(),
    payout_reference: optionalText(),
    payment_date: CalendarDate,
    beneficiary_id: text(),
    is_payer: Schema.Literals(["Y", "N"]),
    payer_id: optionalText(),
    entity_type: Schema.optionalKey(EntityType),
    company_name: optionalText(),
    first_name: optionalText(),
    last_name: optionalText(),
    birth_date: Schema.optionalKey(CalendarDate),
    country: Schema.optionalKey(CountryCode),
    address: optionalText(),
    city: optionalText(),
    state_or_province: optionalText(),
    postal_code: optionalText(),
    identification_type: Schema.optionalKey(
      Schema.Literals([...INDIVIDUAL_IDENTIFICATIONS, ...COMPANY_IDENTIFICATIONS]),
    ),
    identification_value: optionalText(),
    // Not in the documented body, but every answer calls it the user's idempotency key: it is sent
    // unless the assumption `payoutKeyInBody` is switched off.
    unique_request_id: Schema.optionalKey(UniqueRequestId),
  }),
  [
    requiredWhen("company_name", "for entity_type company", isPayer("company")),
    requiredWhen("first_name", "for entity_type individual", isPayer("individual")),
    requiredWhen("last_name", "for entity_type individual", isPayer("individual")),
    requiredWhen("birth_date", "for entity_type individual", isPayer("individual")),
    identificationFitsThePayer,
  ],
);

const payout = Schema.Struct({
  payout_id: answeredId,
  payout_status: answeredOrUnset,
  amount: answeredOrUnset,
  currency: answeredOrUnset,
  short_reference: answeredOrUnset,
  payout_reason: answeredOrUnset,
  payout_reference: answeredOrUnset,
  beneficiary_id: answeredOrUnset,
  beneficiary_name: answeredOrUnset,
  payer_id: answeredOrUnset,
  unique_request_id: answeredOrUnset,
  fee_amount: answeredOrUnset,
  fee_paid_by: answeredOrUnset,
  payment_date: answeredTime,
  create_time: answeredTime,
  update_time: answeredTime,
  complete_time: answeredTime,
});

/** A payout, whichever of the service's three shapes it came in; times that are unset are absent. */
export type Payout = typeof payout.Type;

/** The shape that createPayout answers. */
const CreatedPayout = withWireNames(payout, {
  payout_id: "id",
  payout_status: "status",
  payout_reason: "reason",
  payout_reference: "reference",
});

/** The shape of a payout in the list. */
const ListedPayout = withWireNames(payout, { short_reference: "reference_id" });

/** The shape that retrievePayout answers. */
const RetrievedPayout = withWireNames(payout, {
  short_reference: "short_reference_id",
  payment_date: "payout_date",
});

/** Whose payouts or transactions a list shows. */
export const Scope = Schema.Literals(["house_account", "clients_account"]);

const PAYOUTS_PAGE_SIZE = 50;

/** Filters of listPayouts; on the wire some have other names, see the assumptions. */
const ListPayouts = Schema.Struct({
  page_num: PageNumber,
  page_size: pageSize(PAYOUTS_PAGE_SIZE),
  date_type: Schema.optionalKey(Schema.Literals(["settle_time", "create_time"])),
  scope: Schema.optionalKey(Scope),
  short_reference_id: Schema.optionalKey(text(36)),
  status: Schema.optionalKey(
    Schema.Literals(["awaiting_funds", "trade_settled", "closed", "funds_arrived"]),
  ),
  start: Schema.optionalKey(RangeBound),
  end: Schema.optionalKey(RangeBound),
});

/** Source: service interface, "Payouts". */
export const payouts = HttpApiGroup.make("payouts", { topLevel: true })
  .add(
    HttpApiEndpoint.post("createPayout", "/api/v1/payouts/create", {
      payload: CreatePayout,
      success: enveloped(CreatedPayout),
      error: Refusal,
    }).annotate(Idempotency, "none"),
    HttpApiEndpoint.get("listPayouts", "/api/v1/payouts", {
      query: ListPayouts,
      success: page(ListedPayout),
      error: Refusal,
    })
      .annotate(Idempotency, "safe")
      .annotate(MaxPageSize, PAYOUTS_PAGE_SIZE)
      .annotate(ItemId, "payout_id"),
    HttpApiEndpoint.get("retrievePayout", "/api/v1/payouts/:payout_id/retrieve", {
      params: { payout_id: PathSegment },
      success: enveloped(RetrievedPayout),
      error: Refusal,
    }).annotate(Idempotency, "safe"),
  )
  .middleware(SignedIn);
