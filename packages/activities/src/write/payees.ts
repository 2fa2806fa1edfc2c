import type { PaymentsClient, PaymentsError } from "@durable-payments/api-core";
import { isRecord } from "@durable-payments/api-core/values";
import type { Ledger } from "@durable-payments/ledger";
import { textAt } from "@durable-payments/protocol";
import { bankOf, hashOf, payeeMark } from "@durable-payments/protocol/account";
import type { Effect } from "effect";
import { contradictedField } from "../evidence/match-beneficiary.ts";

/** Describes an account for whoever approves its payment: holder, country, and the last four characters. */
export const describeAccount = (beneficiary: unknown): string => {
  const bank = bankOf(beneficiary);
  const number = textAt(bank, "iban") ?? textAt(bank, "account_number");
  const holder = textAt(bank, "account_holder") ?? "an unknown holder";
  const country =
    textAt(bank, "bank_country") ?? textAt(bank, "bank_country_code") ?? "unknown country";
  const ending = number === undefined ? "unknown account" : `account ending in ${number.slice(-4)}`;
  return `${holder}, ${country}, ${ending}`;
};

/** Marks what is described, for an approval: another holder, bank or account, also beside an IBAN, has another mark. */
export const accountMark = (beneficiary: unknown): string => {
  const bank = bankOf(beneficiary);
  const more = ["bank_name", "account_number"].map((field) => textAt(bank, field));
  return hashOf([payeeMark(beneficiary), ...more]).slice(0, 32);
};

/** What is looked for. */
interface Wanted {
  readonly account: string;
  /** Hash of the request. */
  readonly hash: string;
  readonly request: unknown;
  readonly ledger: Ledger;
  /** Reads at the service; what it does not know is undefined. */
  readonly readOrNone: <A>(
    call: (client: PaymentsClient["Service"]) => Effect.Effect<A, PaymentsError>,
  ) => Promise<A | undefined>;
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
  readOrNone,
  request,
}: Wanted): Promise<unknown> => {
  const done = await ledger.doneWith(account, "createBeneficiary", hash);
  const beneficiary_id = done?.madeId ?? "";
  if (beneficiary_id === "") return undefined;
  const shown = await readOrNone((client) => client.retrieveBeneficiary({ beneficiary_id }));
  const isActive = shown !== undefined && ACTIVE.test(shown.beneficiary_status ?? "active");
  // An account number that is shown beside an IBAN is a part of it, or was changed since.
  const number = textAt(request, "account_number") ?? textAt(request, "iban");
  const sent = { ...(isRecord(request) ? request : {}), account_number: number };
  return isActive && contradictedField(sent, shown) === undefined
    ? { ...shown, beneficiary_id }
    : undefined;
};
