import { ibanFits } from "./iban.ts";
import { given, type RawRequest, requiredWhen, type Rule } from "./rules.ts";

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

/** A company's name has more than digits. */
export const companyNameHasALetter: Rule = (request) =>
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

/** Rules across the fields of a new beneficiary. */
export const creationRules: ReadonlyArray<Rule> = [
  requiredWhen("first_name", "for an individual", isEntity("individual")),
  requiredWhen("last_name", "for an individual", isEntity("individual")),
  requiredWhen("company_name", "for a company", isEntity("company")),
  companyNameHasALetter,
  requiredWhen("iban", "for this bank_country and account_currency", needsIban),
  ibanFits("iban"),
  requiredWhen("account_number", "where no iban is required", (request) => !needsIban(request)),
  routingPair(1),
  routingPair(2),
];
