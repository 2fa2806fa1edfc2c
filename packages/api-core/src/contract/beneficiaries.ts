import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint";
import * as HttpApiGroup from "effect/http-api/HttpApiGroup";
import { confirmed, enveloped, Refusal } from "./envelope.ts";
import {
  answeredId,
  answeredOrUnset,
  CountryCode,
  CurrencyCode,
  emptyText,
  optionalText,
  PathSegment,
  text,
} from "./fields.ts";
import { ibanFits } from "./iban.ts";
import { Idempotency } from "./operation-facts.ts";
import {
  decodedBy,
  IGNORED,
  type LenientDecoder,
  lenientDecoder,
  UNREADABLE,
} from "./lenient-decoder.ts";
import { given, type RawRequest, requiredWhen, type Rule, withRules } from "./rules.ts";
import { SignedIn } from "./signed-in.ts";
import { isRecord } from "../values.ts";

/** A payee is a company or a person. */
export const EntityType = Schema.Literals(["company", "individual"]);

/** Over the country's own rails, or by SWIFT. */
const PaymentMethod = Schema.Literals(["local", "swift"]);

const IBAN_COUNTRIES = new Set(
  (
    "AD AT BE BG CY HR CZ DK EE FI FR DE GR HU IS IE IT LV LI LT LU MT MC NL NO PL PT RO SM SK " +
    "SI ES SE CH GB VA"
  ).split(" "),
);
const IBAN_CURRENCIES = new Set(["EUR", "USD"]);

/** Whether the service asks for an IBAN: a bank in one of its 36 countries, for EUR or USD. */
const needsIban = (request: RawRequest): boolean =>
  IBAN_COUNTRIES.has(given(request, "bank_country").toUpperCase()) &&
  IBAN_CURRENCIES.has(given(request, "account_currency").toUpperCase());

const isEntity = (type: "company" | "individual") => (request: RawRequest) =>
  given(request, "entity_type") === type;

const companyNameHasALetter: Rule = (request) =>
  /^\d+$/.test(given(request, "company_name"))
    ? [{ field: "company_name", problem: "must not consist only of digits" }]
    : [];

const routingPair =
  (n: 1 | 2): Rule =>
  (request) =>
    given(request, `routing_code_value${n}`) !== "" &&
    given(request, `routing_code_type${n}`) === ""
      ? [{ field: `routing_code_type${n}`, problem: `is required with routing_code_value${n}` }]
      : [];

const common = {
  bank_country: CountryCode,
  account_currency: CurrencyCode,
  entity_type: EntityType,
  email: text(),
  nickname: text(120),
  first_name: optionalText(45),
  last_name: optionalText(45),
  company_name: optionalText(120),
  payment_method: PaymentMethod,
  bank_name: text(240),
  bank_address: emptyText(240),
  account_holder: text(36),
  swift_code: optionalText(30),
  country_code: CountryCode,
  city: text(36),
  state: emptyText(96),
  address: text(255),
  postal_code: emptyText(12),
};

/** Body of createBeneficiary. */
const CreateBeneficiary = withRules(
  Schema.Struct({
    ...common,
    account_number: optionalText(60),
    iban: optionalText(),
    clearing_system: optionalText(30),
    routing_code_type1: optionalText(),
    routing_code_value1: optionalText(),
    routing_code_type2: optionalText(),
    routing_code_value2: optionalText(),
  }),
  [
    requiredWhen("first_name", "for an individual", isEntity("individual")),
    requiredWhen("last_name", "for an individual", isEntity("individual")),
    requiredWhen("company_name", "for a company", isEntity("company")),
    companyNameHasALetter,
    requiredWhen("iban", "for this bank_country and account_currency", needsIban),
    ibanFits("iban"),
    requiredWhen("account_number", "where no iban is required", (request) => !needsIban(request)),
    routingPair(1),
    routingPair(2),
  ],
);

/**
 * Body of updateBeneficiary: as at creation, without IBAN and routing codes. Account number and
 * clearing system are empty for one that has an IBAN alone.
 */
const UpdateBeneficiary = withRules(
  Schema.Struct({ ...common, account_number: emptyText(60), clearing_system: emptyText(30) }),
  [companyNameHasALetter],
);

/** Bank details of a beneficiary; what the service leaves empty is absent. */
const BankDetails = Schema.Struct({
  bank_name: answeredOrUnset,
  bank_address: answeredOrUnset,
  bank_country_code: answeredOrUnset,
  account_holder: answeredOrUnset,
  account_currency_code: answeredOrUnset,
  account_number: answeredOrUnset,
  iban: answeredOrUnset,
  swift_code: answeredOrUnset,
  clearing_system: answeredOrUnset,
  routing_code_type1: answeredOrUnset,
  routing_code_value1: answeredOrUnset,
  routing_code_type2: answeredOrUnset,
  routing_code_value2: answeredOrUnset,
});

/** Address of a beneficiary. */
const BeneficiaryAddress = Schema.Struct({
  country_code: answeredOrUnset,
  city: answeredOrUnset,
  street_address: answeredOrUnset,
  postal_code: answeredOrUnset,
  state: answeredOrUnset,
});

const described = {
  beneficiary_id: answeredId,
  entity_type: answeredOrUnset,
  payment_method: answeredOrUnset,
  beneficiary_email: answeredOrUnset,
  beneficiary_nickname: answeredOrUnset,
  beneficiary_company_name: answeredOrUnset,
  beneficiary_first_name: answeredOrUnset,
  beneficiary_last_name: answeredOrUnset,
  beneficiary_summary: answeredOrUnset,
  account_number: answeredOrUnset,
  account_currency_code: answeredOrUnset,
  bank_country_code: answeredOrUnset,
  beneficiary_status: answeredOrUnset,
};

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

/** The create answer carries bank details and address as JSON texts. */
const asJsonText = <S extends Schema.Top>(schema: S) => details(schema, JSON.stringify);
const asObject = <S extends Schema.Top>(schema: S) => details(schema, (encoded) => encoded);

/** A beneficiary as the create operation answers it. */
const CreatedBeneficiary = Schema.Struct({
  ...described,
  beneficiary_bank_details: asJsonText(BankDetails),
  beneficiary_address: asJsonText(BeneficiaryAddress),
});

/** A beneficiary as the retrieve operation answers it; decodes to the same type as the created one. */
export const Beneficiary = Schema.Struct({
  ...described,
  beneficiary_bank_details: asObject(BankDetails),
  beneficiary_address: asObject(BeneficiaryAddress),
});

/** A payee with bank details. */
export type Beneficiary = typeof Beneficiary.Type;

const params = { beneficiary_id: PathSegment };

/** Source: service interface, "Beneficiaries". */
export const beneficiaries = HttpApiGroup.make("beneficiaries", { topLevel: true })
  .add(
    HttpApiEndpoint.post("createBeneficiary", "/api/v1/beneficiaries/create", {
      payload: CreateBeneficiary,
      success: enveloped(CreatedBeneficiary),
      error: Refusal,
    }).annotate(Idempotency, "none"),
    // The document shows no method; see the assumption `updateBeneficiaryMethod`.
    HttpApiEndpoint.post("updateBeneficiary", "/api/v1/beneficiaries/:beneficiary_id/update", {
      params,
      payload: UpdateBeneficiary,
      success: confirmed,
      error: Refusal,
    }).annotate(Idempotency, "idempotent"),
    HttpApiEndpoint.get("retrieveBeneficiary", "/api/v1/beneficiaries/:beneficiary_id", {
      params,
      success: enveloped(Beneficiary),
      error: Refusal,
    }).annotate(Idempotency, "safe"),
  )
  .middleware(SignedIn);
