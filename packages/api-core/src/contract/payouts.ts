import * as Schema from "effect/Schema";
import { get, post } from "effect/http-api/HttpApiEndpoint";
import { answer, answeredId, answeredOrUnset, answeredTime, enveloped, page } from "./answers.ts";
import {
  Amount,
  CalendarDate,
  CountryCode,
  CurrencyCode,
  GivenId,
  optionalText,
  PageNumber,
  pageSize,
  PathSegment,
  RangeBound,
  text,
  UniqueRequestId,
} from "./fields.ts";
import { EntityType } from "./beneficiaries.ts";
import { isEntity } from "./beneficiary-rules.ts";
import { endpointGroup, Idempotency, Paged, SignedIn } from "./operation-facts.ts";
import { given, type Named, named, requiredWhen, type Rule } from "./rules.ts";

/** Documents that identify a payer who is a person. */
const INDIVIDUAL_IDENTIFICATIONS = ["passport", "drivers_license", "national_id"] as const;

/** The document that identifies a payer which is a company. */
const COMPANY_IDENTIFICATIONS = ["incorporation_number"] as const;

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

/** Fields of createPayout. Payer and beneficiary have one currency. */
export interface CreatePayoutInput extends Named<typeof CreatePayoutInputSchema> {}
const CreatePayoutInputSchema = named<CreatePayoutInput>()(
  {
    /** Currency of the balance that pays and of the beneficiary: a three-letter code (ISO 4217), such as `USD`. */
    currency: CurrencyCode,
    /**
     * Amount: a decimal string above zero in units of `currency`, such as `"12.50"`, with at most the
     * currency's own digits after the point.
     */
    amount: Amount,
    /** Why it is paid, in words or as the account's agreement wants it. */
    payout_reason: text(),
    /** Text in the bank history of the beneficiary. */
    payout_reference: optionalText(),
    /** Day on which it is to be paid: a calendar date, `YYYY-MM-DD`. */
    payment_date: CalendarDate,
    /** The payee: the id that createBeneficiary returned. */
    beneficiary_id: GivenId,
    /** `Y` or `N`; the service's document says no more. */
    is_payer: Schema.Literals(["Y", "N"]),
    /** The payer: an id of listPayers, if it is one of them. */
    payer_id: optionalText(),
    /** Whether the payer is a company or a person. */
    entity_type: Schema.optionalKey(EntityType),
    /** The payer's name. Required for `entity_type` `company`. */
    company_name: optionalText(),
    /** The payer's first name. Required for `entity_type` `individual`. */
    first_name: optionalText(),
    /** The payer's last name. Required for `entity_type` `individual`. */
    last_name: optionalText(),
    /** The payer's day of birth: a calendar date, `YYYY-MM-DD`. Required for `entity_type` `individual`. */
    birth_date: Schema.optionalKey(CalendarDate),
    /** The payer's country: a two-letter code (ISO 3166-1), such as `US`. */
    country: Schema.optionalKey(CountryCode),
    /** Street and number of the payer. */
    address: optionalText(),
    /** City of the payer. */
    city: optionalText(),
    /** State or province of the payer. */
    state_or_province: optionalText(),
    /** Postal code of the payer. */
    postal_code: optionalText(),
    /**
     * Document that identifies the payer: of a company `incorporation_number`, of a person one of the
     * others.
     */
    identification_type: Schema.optionalKey(
      Schema.Literals([...INDIVIDUAL_IDENTIFICATIONS, ...COMPANY_IDENTIFICATIONS]),
    ),
    /** Number of that document. */
    identification_value: optionalText(),
    // Not in the documented body, but every answer calls it the user's idempotency key: it is sent
    // unless the assumption `payoutKeyInBody` is switched off.
    /** Your own id of this payout, 1 to 36 characters, by which it is found in listPayouts. */
    unique_request_id: Schema.optionalKey(UniqueRequestId),
  },
  [
    requiredWhen("company_name", "for entity_type company", isEntity("company")),
    requiredWhen("first_name", "for entity_type individual", isEntity("individual")),
    requiredWhen("last_name", "for entity_type individual", isEntity("individual")),
    requiredWhen("birth_date", "for entity_type individual", isEntity("individual")),
    identificationFitsThePayer,
  ],
);

/** A payout, whichever of the service's three shapes it came in; unset fields are absent. */
export interface Payout extends Named<typeof PayoutSchema> {}
const PayoutSchema = named<Payout>()({
  /** The service's id of the payout. */
  payout_id: answeredId,
  /** Status in the service's own words, such as `processing`; the document does not list them. See `payoutState`. */
  payout_status: answeredOrUnset,
  /** Amount: a decimal string in units of `currency`, such as `"12.50"`. */
  amount: answeredOrUnset,
  /** Three-letter code (ISO 4217), such as `USD`. */
  currency: answeredOrUnset,
  /** Short reference, such as `P261121-AB12CD34`. */
  short_reference: answeredOrUnset,
  /** Why it is paid, as it was requested. */
  payout_reason: answeredOrUnset,
  /** Text in the bank history of the beneficiary. */
  payout_reference: answeredOrUnset,
  /** The payee: an id of createBeneficiary. */
  beneficiary_id: answeredOrUnset,
  /** Name of who is paid. Lists alone show it. */
  beneficiary_name: answeredOrUnset,
  /** The payer: an id of listPayers. Lists do not show it. */
  payer_id: answeredOrUnset,
  /** Your own id of the payout, if the service shows it. */
  unique_request_id: answeredOrUnset,
  /** Fee: a decimal string. The document does not say in which currency. */
  fee_amount: answeredOrUnset,
  /** The party that bears the fee, such as `shared`. */
  fee_paid_by: answeredOrUnset,
  /** Day or time (ISO 8601) on which it is to be paid. */
  payment_date: answeredTime,
  /** Time of creation: ISO 8601 with offset. */
  create_time: answeredTime,
  /** Time of the last change: ISO 8601 with offset. */
  update_time: answeredTime,
  /** Time of completion: ISO 8601 with offset; absent until then. */
  complete_time: answeredTime,
});

/** Fields of a payout that have other names in the service's three shapes, by the operation that answers it. */
export const payoutNames = {
  createPayout: {
    payout_id: "id",
    payout_status: "status",
    payout_reason: "reason",
    payout_reference: "reference",
  },
  listPayouts: { short_reference: "reference_id" },
  retrievePayout: { short_reference: "short_reference_id", payment_date: "payout_date" },
};

/** The owners of the payouts or transactions in a list. */
export const Scope = Schema.Literals(["house_account", "clients_account"]);

const PAYOUTS_PAGE_SIZE = 50;

/** Page and filters of listPayouts. */
export interface ListPayoutsInput extends Named<typeof ListPayoutsInputSchema> {}
// On the wire some have other names, see the assumptions.
const ListPayoutsInputSchema = named<ListPayoutsInput>()({
  /** Which page: a whole number, 1 or more. */
  page_num: PageNumber,
  /** Payouts on a page, 1 to 50. */
  page_size: pageSize(PAYOUTS_PAGE_SIZE),
  /** Which time of a payout `start` and `end` are about. */
  date_type: Schema.optionalKey(Schema.Literals(["settle_time", "create_time"])),
  /** The owners of the payouts: the account's own house, or its clients. */
  scope: Schema.optionalKey(Scope),
  /** Lists only the payout with this short reference, 1 to 36 characters. */
  short_reference_id: Schema.optionalKey(text(36)),
  /** Payouts with this status alone. The service filters by no other word, and does not explain these. */
  status: Schema.optionalKey(
    Schema.Literals(["awaiting_funds", "trade_settled", "closed", "funds_arrived"]),
  ),
  /** From this time on: milliseconds since 1970. */
  start: Schema.optionalKey(RangeBound),
  /** Up to this time: milliseconds since 1970. */
  end: Schema.optionalKey(RangeBound),
});

/** Source: service interface, "Payouts". */
export const payoutOperations = {
  /**
   * Pay `amount` of `currency` from the account's balance to a beneficiary, on `payment_date` (`YYYY-MM-DD`).
   *
   * Idempotency class `none`: sending it twice may pay twice. After a lost answer (`OutcomeUnknown`) look for
   * the `unique_request_id` in listPayouts before it is sent again, as the workflow step createPayout does.
   *
   * @example
   * const { payout_id } = await client.createPayout({
   *   beneficiary_id,
   *   amount: "12.50",
   *   currency: "EUR",
   *   payout_reason: "Payment for goods",
   *   payout_reference: "Invoice 17",
   *   payment_date: "2026-12-01",
   *   is_payer: "Y",
   *   unique_request_id: "invoice-17",
   * });
   */
  createPayout: post("createPayout", "/payouts/create", {
    payload: CreatePayoutInputSchema,
    success: enveloped(answer(PayoutSchema, payoutNames.createPayout)),
  }).annotate(Idempotency, "none"),
  /**
   * List payouts, a page of at most 50 at a time; `client.streams.listPayouts` reads all pages. A new payout
   * may be missing for some minutes.
   *
   * Idempotency class `safe`: it only reads, and is sent again after a lost answer.
   *
   * @example
   * const { item_list } = await client.listPayouts({
   *   page_num: 1,
   *   page_size: 50,
   *   status: "awaiting_funds",
   * });
   */
  listPayouts: get("listPayouts", "/payouts", {
    query: ListPayoutsInputSchema,
    success: page(answer(PayoutSchema, payoutNames.listPayouts)),
  })
    .annotate(Idempotency, "safe")
    .annotate(Paged, { maxPageSize: PAYOUTS_PAGE_SIZE, itemId: "payout_id" }),
  /**
   * Read one payout: its state, and when it was completed.
   *
   * Idempotency class `safe`: it only reads, and is sent again after a lost answer.
   *
   * @example
   * const { complete_time, payout_status } = await client.retrievePayout({ payout_id });
   */
  retrievePayout: get("retrievePayout", "/payouts/:payout_id/retrieve", {
    params: {
      /** The service's id of the payout, as createPayout answered it. */
      payout_id: PathSegment,
    },
    success: enveloped(answer(PayoutSchema, payoutNames.retrievePayout)),
  }).annotate(Idempotency, "safe"),
};

/** The payouts of the service. */
export const payouts = endpointGroup("payouts", payoutOperations).middleware(SignedIn);
