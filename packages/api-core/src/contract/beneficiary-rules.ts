import { electronicFormatIBAN, validateIBAN, ValidationErrorsIBAN } from "ibantools";
import { given, type RawRequest, requiredWhen, type Rule } from "./rules.ts";
import { lettersAndDigits } from "../values.ts";

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

/** Whether a request is about a company, or about a person. */
export const isEntity = (type: "company" | "individual") => (request: RawRequest) =>
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

/** Faults that no IBAN has. Check digits of a country's own within it are for its banks to judge. */
const FAULTS: ReadonlyArray<ValidationErrorsIBAN> = [
  ValidationErrorsIBAN.NoIBANCountry,
  ValidationErrorsIBAN.WrongBBANLength,
  ValidationErrorsIBAN.ChecksumNotNumber,
  ValidationErrorsIBAN.WrongIBANChecksum,
];

/** An IBAN that is given has its country's length, and fits its check digits (ISO 7064, mod 97). */
const ibanFits: Rule = (request) => {
  const iban = electronicFormatIBAN(given(request, "iban")) ?? "";
  if (iban === "") return [];
  const isWrong = validateIBAN(iban).errorCodes.some((code) => FAULTS.includes(code));
  const problem = "is not a valid IBAN: its country, length or check digits are wrong";
  return isWrong ? [{ field: "iban", problem }] : [];
};

/** Digits that codes have in every bank, by the beginning of their name: a spreadsheet removes zeros at the beginning. */
const CODE_DIGITS = { aba: 9, bsb: 6, routingnumber: 9, sortcode: 6 };

const lostZeros = (request: RawRequest, field: string, digits: number | undefined) => {
  const code = given(request, field).replaceAll(/[\s-]/g, "");
  return digits !== undefined && /^\d+$/.test(code) && code.length < digits
    ? [{ field, problem: `has ${code.length} digits of ${digits}: restore zeros at the beginning` }]
    : [];
};

const routingDigits =
  (n: 1 | 2): Rule =>
  (request) => {
    const type = lettersAndDigits(given(request, `routing_code_type${n}`));
    const [, digits] = Object.entries(CODE_DIGITS).find(([name]) => type.startsWith(name)) ?? [];
    return lostZeros(request, `routing_code_value${n}`, digits);
  };

/** British account numbers have eight digits. */
const accountDigits: Rule = (request) =>
  lostZeros(request, "account_number", given(request, "bank_country") === "GB" ? 8 : undefined);

const FOR_BANK = "for this bank_country and account_currency";

/** Rules across the fields of a new beneficiary. */
export const creationRules: ReadonlyArray<Rule> = [
  requiredWhen("first_name", "for an individual", isEntity("individual")),
  requiredWhen("last_name", "for an individual", isEntity("individual")),
  requiredWhen("company_name", "for a company", isEntity("company")),
  companyNameHasALetter,
  requiredWhen("iban", FOR_BANK, needsIban),
  ibanFits,
  requiredWhen("account_number", FOR_BANK, (request) => !needsIban(request)),
  routingPair(1),
  routingPair(2),
  routingDigits(1),
  routingDigits(2),
  accountDigits,
];
