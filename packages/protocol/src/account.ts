import {
  comparableText,
  isRecord,
  lettersAndDigits,
  PERSON_MARK,
} from "@durable-payments/client/values";
import { hash } from "node:crypto";

/** Reads a field of an object if it is a text that is not blank. */
export const textAt = (value: unknown, field: string): string | undefined => {
  const text = isRecord(value) ? value[field] : undefined;
  return typeof text === "string" && text.trim() !== "" ? text : undefined;
};

/** Shows the end of a number, so that a person can recognise it: `…4321`. */
export const lastFour = (number: string): string => {
  const plain = number.replaceAll(/\s/g, "");
  return plain.length > 4 ? `…${plain.slice(-4)}` : "…";
};

/** Returns JSON whose fields are in the order of their names: two equal values give the same text. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isRecord(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/** Returns the SHA-256 of a value's canonical JSON, in hex. */
export const hashOf = (value: unknown): string => hash("sha256", canonicalJson(value));

/** An account with the service: its client id, and the address that distinguishes test from production. */
export interface Account {
  readonly clientId: string;
  readonly baseUrl: string;
}

const short = (text: string): string => hash("sha256", text).slice(0, 16);

/** Identifies an account without revealing its name: 16 hex digits of a SHA-256 hash of the client id and the address. */
export const accountHash = ({ baseUrl, clientId }: Account): string => {
  const { host, pathname } = new URL(baseUrl);
  return short(JSON.stringify([clientId, host, pathname.replace(/\/+$/, "")]));
};

/** Identifies a client at any address of the service: the default ledger is named after it. */
export const clientHash = ({ clientId }: Pick<Account, "clientId">): string => short(clientId);

/** Capitals and digits of a text in ASCII. */
const lettersOf = (text: string): string =>
  text
    .normalize("NFKC")
    .toUpperCase()
    .replaceAll(/[^A-Z\d]/g, "");

/**
 * ISO 13616: letters count from 10, the first four last, 1 is left of 97. `ibantools` knows no other countries, and is
 * large.
 */
const isIban = (letters: string): boolean => {
  const turned = letters.slice(4) + letters.slice(0, 4);
  const digits = turned.replaceAll(/[A-Z]/g, (letter) => String(Number.parseInt(letter, 36)));
  return BigInt(digits) % 97n === 1n;
};

/** Characters between the letters of a number. */
const GAP = String.raw`[^A-Z\d]*`;

/** An IBAN without other characters. */
const WHOLE_IBAN = /^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/;

/** The form of an IBAN: 15 to 34 letters and digits, perhaps with words after it. */
const IBAN = `[A-Z]${GAP}[A-Z](?:${GAP}\\d){2}(?:${GAP}[A-Z\\d]){11,30}`;

const SHORTEST_IBAN = 15;

/** A shorter number may be a part of anything. */
const SHORTEST_NUMBER = 5;

/** Returns the number that a text begins with, as it is written there: a known one, or the longest that is an IBAN. */
const numberIn = (text: string, known: ReadonlyArray<string>): string | undefined => {
  for (let end = text.length; end > 0; end--) {
    const written = text.slice(0, end);
    const letters = lettersOf(written);
    if (known.includes(letters) || (letters.length >= SHORTEST_IBAN && isIban(letters))) {
      return written.replace(/[^A-Z\d]+$/i, "");
    }
  }
  return undefined;
};

const maskAccounts = (text: string, numbers: ReadonlyArray<string>): string => {
  const known = numbers.map(lettersOf).filter(({ length }) => length >= SHORTEST_NUMBER);
  const forms = [...known.map((number) => Array.from(number).join(GAP)), IBAN];
  const pattern = new RegExp(forms.join("|"), "gi");
  const plain = text.normalize("NFKC");
  let masked = "";
  let shownTo = 0;
  for (let match = pattern.exec(plain); match !== null; match = pattern.exec(plain)) {
    const number = numberIn(match[0], known);
    pattern.lastIndex = match.index + (number?.length ?? 1);
    if (number === undefined) continue;
    masked += plain.slice(shownTo, match.index) + lastFour(lettersOf(number));
    shownTo = pattern.lastIndex;
  }
  return shownTo === 0 ? text : masked + plain.slice(shownTo);
};

/** An id is never an account number, although a part of one in a few hundred passes the check of an IBAN. */
const UUID = /(?<![A-Z\d])([A-F\d]{8}(?:-[A-F\d]{4}){3}-[A-F\d]{12})(?![A-Z\d])/i;

/** Masks IBANs and the numbers given to their last four digits, with any separators and in any width; UUIDs stay whole. */
export const withoutAccounts = (text: string, numbers: ReadonlyArray<string> = []): string =>
  text
    .split(UUID)
    .map((part) => (UUID.test(part) ? part : maskAccounts(part, numbers)))
    .join("");

/** Lists the account numbers of a beneficiary. */
export const accountNumbersOf = (beneficiary: unknown): ReadonlyArray<string> =>
  ["account_number", "iban"].flatMap((field) => textAt(beneficiary, field) ?? []);

/** Returns the details of a beneficiary's bank: flat in a request, an object in a response. */
const bankOf = (beneficiary: unknown): unknown =>
  isRecord(beneficiary) && isRecord(beneficiary["beneficiary_bank_details"])
    ? beneficiary["beneficiary_bank_details"]
    : beneficiary;

/** The fields of a beneficiary that name an account, each in one spelling; empty texts for those it has not. */
const accountOf = (beneficiary: unknown) => {
  const bank = bankOf(beneficiary);
  const codeAt = (...fields: ReadonlyArray<string>): string =>
    lettersOf(fields.map((field) => textAt(bank, field) ?? "").join(""));
  const number = codeAt("account_number");
  const isNumberIban = WHOLE_IBAN.test(number) && isIban(number);
  return {
    iban: codeAt("iban") || (isNumberIban ? number : ""),
    number,
    country: codeAt("bank_country") || codeAt("bank_country_code"),
    // The head office has XXX for its branch, or nothing.
    swift: codeAt("swift_code").replace(/^(.{8})XXX$/, "$1"),
    routing: codeAt("routing_code_value1", "routing_code_value2"),
  };
};

const markOf = (...said: ReadonlyArray<string>): string | undefined =>
  said.includes("") ? undefined : hash("sha256", JSON.stringify(said)).slice(0, 32);

/**
 * Marks the account of a beneficiary, as it is requested or shown: its IBAN, else its number with its bank, and nothing
 * else that is said of it. So the same account has one mark in each spelling, for likely duplicates, for the reuse of a
 * beneficiary and for an approval. The number cannot be read from the mark, but a person who knows the number can compute
 * the mark.
 *
 * @returns 32 hex digits; undefined if nothing names an account.
 */
export const payeeMark = (beneficiary: unknown): string | undefined => {
  const { country, iban, number, routing, swift } = accountOf(beneficiary);
  return markOf(iban) ?? markOf(number, swift || routing || country);
};

/**
 * Marks an account that has no IBAN by its number and country alone: the same whether its bank is named by a SWIFT
 * code, by another code, or by both. Only for likely duplicates, after which a person looks.
 */
export const likelyPayeeMark = (beneficiary: unknown): string | undefined => {
  const { country, iban, number } = accountOf(beneficiary);
  return iban === "" ? markOf(number, country) : undefined;
};

/** Represents the account of a beneficiary that the service does not know. The approver sees that. */
export const UNKNOWN_PAYEE = { mark: "unknown", shown: "a beneficiary not found at the service" };

/**
 * Describes an account for its approver, with the mark that the approval names.
 *
 * @param beneficiary undefined if the service does not know it.
 * @param keyed keys the mark, as the ledger does.
 * @returns `shown`: holder, country, and the last four characters.
 */
export const describeAccount = (
  beneficiary: unknown,
  keyed: (mark: string) => string,
): { readonly mark: string; readonly shown: string } => {
  if (beneficiary === undefined) return UNKNOWN_PAYEE;
  const { country, iban, number } = accountOf(beneficiary);
  const bank = bankOf(beneficiary);
  const account = iban || number;
  const ending = account === "" ? "unknown account" : `account ending in ${account.slice(-4)}`;
  // A number in addition to an IBAN, and no part of it, names another account: which one is paid, the service decides.
  const beside = iban.includes(number) ? undefined : markOf(iban, number);
  const mark = beside ?? payeeMark(beneficiary) ?? hashOf(bank ?? null).slice(0, 32);
  return {
    // If the service shows no number, then any other change of the account is another one.
    mark: keyed(mark),
    shown: `${textAt(bank, "account_holder") ?? "an unknown holder"}, ${country || "unknown country"}, ${ending}`,
  };
};

/**
 * Marks a person by the name and the day of birth, and by the email, as a cardholder's request gives them.
 *
 * @param keyed keys a mark, so that it cannot be computed from a guessed name.
 * @returns each mark; null if the request does not have the fields.
 */
export const personMarks = (
  cardholder: unknown,
  keyed: (mark: string) => string = (mark) => mark,
): { readonly payee: string | null; readonly alias: string | null } => {
  const plainAt = (field: string): string => lettersAndDigits(textAt(cardholder, field) ?? "");
  // Some people write the last name first.
  const name = [plainAt("first_name"), plainAt("last_name")].toSorted();
  const marked = (...said: ReadonlyArray<string>): string | null => {
    const mark = markOf(...said);
    return mark === undefined ? null : `${PERSON_MARK}${keyed(mark)}`;
  };
  return {
    payee: marked(...name, plainAt("date_birth")),
    alias: marked(comparableText(textAt(cardholder, "email") ?? "")),
  };
};
