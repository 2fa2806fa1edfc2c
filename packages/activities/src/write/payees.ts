import type { PaymentsClient, PaymentsError } from "@durable-payments/api-core";
import { isRecord } from "@durable-payments/api-core/values";
import type { Ledger } from "@durable-payments/ledger";
import type { Effect } from "effect";
import { contradictedField } from "../evidence/match-beneficiary.ts";
import { isPaymentsError } from "./operation.ts";
import { hashOf, textAt } from "./request-fields.ts";

/** What says which account is paid, beside the country of its bank. */
const ACCOUNT_FIELDS = [
  "account_holder",
  "iban",
  "account_number",
  "swift_code",
  "clearing_system",
  "routing_code_type1",
  "routing_code_value1",
  "routing_code_type2",
  "routing_code_value2",
  "bank_name",
] as const;

const plain = (text: string): string => text.replaceAll(/\s/g, "").toUpperCase();

/** The details of a bank: in a request beside the others, in an answer an object of their own. */
const bankOf = (beneficiary: unknown): unknown =>
  isRecord(beneficiary) && isRecord(beneficiary["beneficiary_bank_details"])
    ? beneficiary["beneficiary_bank_details"]
    : beneficiary;

const countryOf = (bank: unknown): string =>
  textAt(bank, "bank_country") ?? textAt(bank, "bank_country_code") ?? "";

/**
 * Marks the account of a beneficiary, as it was requested or as the service shows it: another holder, bank or account
 * has another mark.
 *
 * @returns a hash: no number can be read from it.
 */
export const accountMark = (beneficiary: unknown): string => {
  const bank = bankOf(beneficiary);
  const said = ACCOUNT_FIELDS.map((field) => plain(textAt(bank, field) ?? ""));
  return hashOf(["account of a payee", plain(countryOf(bank)), ...said]).slice(0, 32);
};

/** Describes an account for whoever approves its payment: holder, country, and the last four characters. */
export const describeAccount = (beneficiary: unknown): string => {
  const bank = bankOf(beneficiary);
  const number = textAt(bank, "iban") ?? textAt(bank, "account_number");
  const holder = textAt(bank, "account_holder") ?? "an unknown holder";
  const country = countryOf(bank) || "unknown country";
  const ending = number === undefined ? "unknown account" : `account ending in ${number.slice(-4)}`;
  return `${holder}, ${country}, ${ending}`;
};

/** What is looked for. */
interface Wanted {
  readonly account: string;
  /** Hash of the request. */
  readonly hash: string;
  readonly request: unknown;
  readonly ledger: Ledger;
  readonly read: <A>(
    call: (client: PaymentsClient["Service"]) => Effect.Effect<A, PaymentsError>,
  ) => Promise<A>;
}

const ACTIVE = /^active$/i;

/**
 * Returns the beneficiary that the ledger has for the very same request, where the service still shows it active and
 * unchanged; undefined where a new one is to be made.
 *
 * @throws PaymentsError where the service does not answer.
 */
export const reusableBeneficiary = async ({
  account,
  hash,
  ledger,
  read,
  request,
}: Wanted): Promise<unknown> => {
  const done = await ledger.doneWith(account, "createBeneficiary", hash);
  const beneficiary_id = done?.madeId ?? "";
  if (beneficiary_id === "") return undefined;
  try {
    const shown = await read((client) => client.retrieveBeneficiary({ beneficiary_id }));
    const isActive = ACTIVE.test(shown.beneficiary_status ?? "active");
    return isActive && contradictedField(request, shown) === undefined
      ? { ...shown, beneficiary_id }
      : undefined;
  } catch (error) {
    if (isPaymentsError(error) && error._tag === "Refused") return undefined;
    throw error;
  }
};
