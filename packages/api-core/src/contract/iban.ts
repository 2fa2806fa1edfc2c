import { electronicFormatIBAN, validateIBAN, ValidationErrorsIBAN } from "ibantools";
import { given, type Rule } from "./rules.ts";

/** Faults that no IBAN has. Check digits of a country's own within it are for its banks to judge. */
const FAULTS: ReadonlyArray<ValidationErrorsIBAN> = [
  ValidationErrorsIBAN.NoIBANCountry,
  ValidationErrorsIBAN.WrongBBANLength,
  ValidationErrorsIBAN.ChecksumNotNumber,
  ValidationErrorsIBAN.WrongIBANChecksum,
];

/** An IBAN that is given has its country's length, and fits its check digits (ISO 7064, mod 97). */
export const ibanFits =
  (field: string): Rule =>
  (request) => {
    const iban = electronicFormatIBAN(given(request, field)) ?? "";
    if (iban === "") return [];
    const isWrong = validateIBAN(iban).errorCodes.some((code) => FAULTS.includes(code));
    return isWrong
      ? [{ field, problem: "is not an IBAN: its country, length or check digits do not fit" }]
      : [];
  };
