import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";
import { get, post } from "effect/http-api/HttpApiEndpoint";
import {
  answer,
  type AnswerStruct,
  answeredId,
  answeredOrUnset,
  confirmed,
  enveloped,
  orAbsent,
} from "./answers.ts";
import {
  codeText,
  CountryCode,
  CurrencyCode,
  emptyText,
  optionalCode,
  optionalText,
  PathSegment,
  text,
} from "./fields.ts";
import { companyNameHasALetter, creationRules } from "./beneficiary-rules.ts";
import { endpointGroup, Idempotency, SignedIn } from "./operation-facts.ts";
import { type Named, named, withRules } from "./rules.ts";

/** A payee is a company or a person. */
export const EntityType = Schema.Literals(["company", "individual"]);

/** Over the country's own rails, or by SWIFT. */
const PaymentMethod = Schema.Literals(["local", "swift"]);

const commonFields = {
  /** Country of the bank: a two-letter code (ISO 3166-1), such as `US`. */
  bank_country: CountryCode,
  /** Currency of the bank account: a three-letter code (ISO 4217), such as `USD`. */
  account_currency: CurrencyCode,
  /** Whether the beneficiary is a company or a person. */
  entity_type: EntityType,
  /** E-mail address. */
  email: text(),
  /** Your own name for the beneficiary, 1 to 120 characters. */
  nickname: text(120),
  /** First name, at most 45 characters. Required for a new `individual`. */
  first_name: optionalText(45),
  /** Last name, at most 45 characters. Required for a new `individual`. */
  last_name: optionalText(45),
  /** Name of the company, at most 120 characters and not of digits alone. Required for a new `company`. */
  company_name: optionalText(120),
  /** How it is paid: over the rails of the bank's country, or by SWIFT. */
  payment_method: PaymentMethod,
  /** Name of the bank, 1 to 240 characters. */
  bank_name: text(240),
  /** Address of the bank, at most 240 characters. */
  bank_address: emptyText(240),
  /** Name of the account's holder, 1 to 36 characters. */
  account_holder: text(36),
  /** SWIFT code of the bank (BIC), at most 30 characters. */
  swift_code: optionalCode(30),
  /** Country of the beneficiary: a two-letter code (ISO 3166-1), such as `US`. */
  country_code: CountryCode,
  /** City of the beneficiary, 1 to 36 characters. */
  city: text(36),
  /** State or province of the beneficiary, at most 96 characters. */
  state: emptyText(96),
  /** Street and number of the beneficiary, 1 to 255 characters. */
  address: text(255),
  /** Postal code of the beneficiary, at most 12 characters. */
  postal_code: emptyText(12),
};

/** Fields of createBeneficiary. */
export interface CreateBeneficiaryInput extends Named<typeof CreateBeneficiaryInputSchema> {}
const CreateBeneficiaryInputSchema = named<CreateBeneficiaryInput>()(
  {
    ...commonFields,
    /** Number of the bank account, at most 60 characters. Required if no `iban` is required. */
    account_number: optionalCode(60),
    /**
     * IBAN of the bank account. Required for `EUR` and `USD` in the 36 countries that the service names.
     * Its country, length and check digits are checked.
     */
    iban: optionalCode(),
    /** Clearing system of a `local` payment, at most 30 characters. */
    clearing_system: optionalText(30),
    /** Name of a bank code that has no field here. */
    routing_code_type1: optionalText(),
    /** That code. Requires `routing_code_type1`. */
    routing_code_value1: optionalCode(),
    /** Name of a second such code. */
    routing_code_type2: optionalText(),
    /** That code. Requires `routing_code_type2`. */
    routing_code_value2: optionalCode(),
  },
  creationRules,
);

const byIdFields = {
  /** The beneficiary: the id that createBeneficiary answered. */
  beneficiary_id: PathSegment,
};

const updateBeneficiaryFields = {
  /** Number of the bank account, at most 60 characters; empty for a beneficiary that has an IBAN alone. */
  account_number: codeText(60),
  /** Clearing system, at most 30 characters; empty for a beneficiary that has an IBAN alone. */
  clearing_system: emptyText(30),
};

/** Fields of updateBeneficiary: as at creation, without IBAN and routing codes. */
export interface UpdateBeneficiaryInput
  extends
    Schema.Struct.Type<typeof byIdFields>,
    Schema.Struct.Type<typeof commonFields>,
    Schema.Struct.Type<typeof updateBeneficiaryFields> {}

const parsed = (details: unknown): unknown => {
  if (typeof details !== "string") return details;
  try {
    return JSON.parse(details);
  } catch {
    return undefined;
  }
};

/** Details inside an answer: an object, or its JSON as a text. Anything else is absent. */
const details = <S extends AnswerStruct>(schema: S, write: (details: unknown) => unknown) =>
  orAbsent(
    Schema.optionalKey(Schema.Unknown).pipe(
      Schema.decodeTo(Schema.optionalKey(answer(schema)), {
        decode: SchemaGetter.transform(parsed),
        encode: SchemaGetter.transform(write),
      }),
    ),
  );

/** Bank details of a beneficiary; what the service leaves empty is absent. */
export interface BankDetails extends Named<typeof BankDetailsSchema> {}
const BankDetailsSchema = named<BankDetails>()({
  /** Name of the bank. */
  bank_name: answeredOrUnset,
  /** Address of the bank. */
  bank_address: answeredOrUnset,
  /** Country of the bank: a two-letter code (ISO 3166-1), such as `US`. */
  bank_country_code: answeredOrUnset,
  /** Name of the account's holder. */
  account_holder: answeredOrUnset,
  /** Currency of the account: a three-letter code (ISO 4217), such as `USD`. */
  account_currency_code: answeredOrUnset,
  /** Number of the bank account. */
  account_number: answeredOrUnset,
  /** IBAN of the bank account. */
  iban: answeredOrUnset,
  /** SWIFT code of the bank (BIC). */
  swift_code: answeredOrUnset,
  /** Clearing system of local payments. */
  clearing_system: answeredOrUnset,
  /** Name of a further bank code. */
  routing_code_type1: answeredOrUnset,
  /** That code. */
  routing_code_value1: answeredOrUnset,
  /** Name of a second further bank code. */
  routing_code_type2: answeredOrUnset,
  /** That code. */
  routing_code_value2: answeredOrUnset,
});

/** Address of a beneficiary; what the service leaves empty is absent. */
export interface BeneficiaryAddress extends Named<typeof BeneficiaryAddressSchema> {}
const BeneficiaryAddressSchema = named<BeneficiaryAddress>()({
  /** Two-letter country code (ISO 3166-1), such as `US`. */
  country_code: answeredOrUnset,
  /** City. */
  city: answeredOrUnset,
  /** Street and number. */
  street_address: answeredOrUnset,
  /** Postal code. */
  postal_code: answeredOrUnset,
  /** State or province. */
  state: answeredOrUnset,
});

/** How the answers write details: as objects, or, to a creation, as their JSON in a text. */
const beneficiaryFields = (write: (details: unknown) => unknown) => ({
  /** The service's id of the beneficiary. */
  beneficiary_id: answeredId,
  /** `company` or `individual`. */
  entity_type: answeredOrUnset,
  /** `local` or `swift`. */
  payment_method: answeredOrUnset,
  /** E-mail address. */
  beneficiary_email: answeredOrUnset,
  /** Your own name for the beneficiary. */
  beneficiary_nickname: answeredOrUnset,
  /** Name of a company. */
  beneficiary_company_name: answeredOrUnset,
  /** First name of a person. */
  beneficiary_first_name: answeredOrUnset,
  /** Last name of a person. */
  beneficiary_last_name: answeredOrUnset,
  /** The account in words. The creation does not show it. */
  beneficiary_summary: answeredOrUnset,
  /** Number of the bank account. */
  account_number: answeredOrUnset,
  /** Currency of the bank account: a three-letter code (ISO 4217), such as `USD`. */
  account_currency_code: answeredOrUnset,
  /** Country of the bank: a two-letter code (ISO 3166-1), such as `US`. */
  bank_country_code: answeredOrUnset,
  /** State in the service's own words, such as `pending`; the document does not list them. Only the creation shows it. */
  beneficiary_status: answeredOrUnset,
  /** Bank details; absent if they cannot be read. */
  beneficiary_bank_details: details(BankDetailsSchema, write),
  /** Address; absent if it cannot be read. */
  beneficiary_address: details(BeneficiaryAddressSchema, write),
});

/** A payee with bank details; unset fields are absent. */
export interface Beneficiary extends Named<typeof BeneficiarySchema> {}
const BeneficiarySchema = named<Beneficiary>()(beneficiaryFields((details) => details));

/** {@link Beneficiary} as createBeneficiary answers it. */
const CreatedBeneficiary = named<Beneficiary>()(beneficiaryFields(JSON.stringify));

/** Source: service interface, "Beneficiaries". */
export const beneficiaryOperations = {
  /**
   * Create a beneficiary, a payee with bank details. Lengths are in characters.
   *
   * Idempotency class `none`: sending it twice makes two beneficiaries. After a lost answer (`OutcomeUnknown`)
   * the service has no list to look in: send it again where two do no harm, or ask a person.
   *
   * @example
   * const { beneficiary_id } = await client.createBeneficiary({
   *   bank_country: "DE",
   *   account_currency: "EUR",
   *   entity_type: "company",
   *   email: "books@example.com",
   *   nickname: "Engines",
   *   company_name: "Engines GmbH",
   *   payment_method: "local",
   *   bank_name: "First Bank",
   *   bank_address: "1 Main Street, Berlin",
   *   account_holder: "Engines GmbH",
   *   iban: "DE89370400440532013000",
   *   country_code: "DE",
   *   city: "Berlin",
   *   state: "",
   *   address: "2 Main Street",
   *   postal_code: "10115",
   * });
   */
  createBeneficiary: post("createBeneficiary", "/beneficiaries/create", {
    payload: CreateBeneficiaryInputSchema,
    success: enveloped(answer(CreatedBeneficiary)),
  }).annotate(Idempotency, "none"),
  // The document shows no method; see the assumption `updateBeneficiaryMethod`.
  /**
   * Replace a beneficiary's fields, but the IBAN and the routing codes. Lengths are in characters.
   *
   * Idempotency class `idempotent`: sent twice it leaves the same fields; it is sent again after a lost answer.
   *
   * @example
   * await client.updateBeneficiary({
   *   beneficiary_id,
   *   bank_country: "US",
   *   account_currency: "USD",
   *   entity_type: "individual",
   *   email: "ada@example.com",
   *   nickname: "Ada",
   *   payment_method: "local",
   *   bank_name: "First Bank",
   *   bank_address: "1 Main Street",
   *   account_holder: "Ada Lovelace",
   *   account_number: "000123456789",
   *   clearing_system: "ACH",
   *   country_code: "US",
   *   city: "Austin",
   *   state: "TX",
   *   address: "2 Main Street",
   *   postal_code: "73301",
   * });
   */
  updateBeneficiary: post("updateBeneficiary", "/beneficiaries/:beneficiary_id/update", {
    params: byIdFields,
    payload: withRules(Schema.Struct({ ...commonFields, ...updateBeneficiaryFields }), [
      companyNameHasALetter,
    ]),
    success: confirmed,
  }).annotate(Idempotency, "idempotent"),
  /**
   * Read a beneficiary with its bank details.
   *
   * Idempotency class `safe`: it only reads, and is sent again after a lost answer.
   *
   * @example
   * const { beneficiary_nickname } = await client.retrieveBeneficiary({ beneficiary_id });
   */
  retrieveBeneficiary: get("retrieveBeneficiary", "/beneficiaries/:beneficiary_id", {
    params: byIdFields,
    success: enveloped(answer(BeneficiarySchema)),
  }).annotate(Idempotency, "safe"),
};

/** The beneficiaries of the service. */
export const beneficiaries = endpointGroup("beneficiaries", beneficiaryOperations).middleware(
  SignedIn,
);
