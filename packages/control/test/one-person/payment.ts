import { canonicalDecimal } from "@durable-payments/client/values";
import * as inputs from "@durable-payments/tools/test-data/inputs";

/** A payee with everything that chooses where the money goes: fields of a beneficiary. */
export type Payee = Readonly<Record<string, string>>;

/** A payment as a person reads it. */
export interface Payment {
  readonly amount: string;
  readonly currency: string;
  readonly to: Payee;
  readonly reference: string;
  readonly date: string;
}

const ACCOUNT = ["iban", "account_number", "swift_code", "account_currency"] as const;

/** Names the account of a payee by all that distinguishes it. */
export const accountOf = (payee: Payee): string =>
  ACCOUNT.map((field) => payee[field] ?? "").join("/");

/** Words a payment: two that differ in anything that matters are worded differently. */
export const shown = ({ amount, currency, date, reference, to }: Payment): string =>
  `${canonicalDecimal(amount) ?? amount} ${currency} to ${accountOf(to)}, ${reference}, ${date}`;

/** Returns a valid IBAN of an account. */
const ibanOf = (account: number): string => {
  const bban = `37040044${String(account).padStart(10, "0")}`;
  const check = 98n - (BigInt(`${bban}131400`) % 97n);
  return `DE${String(check).padStart(2, "0")}${bban}`;
};

/** Makes the payees of an attempt, whose nicknames begin with its id: no two attempts share an account. */
export const payeesOf = (id: string, number: number) => {
  const payee = (which: number, name: string): Payee => ({
    ...inputs.beneficiary,
    nickname: `${id} ${name}`,
    iban: ibanOf(number * 10 + which),
  });
  const { iban: _, ...honest } = payee(1, "payee");
  return {
    honest: payee(1, "payee"),
    /** Ada's accomplice. */
    mallory: payee(2, "mallory"),
    /** The honest one, with an account that has no IBAN. */
    numbered: { ...honest, bank_country: "US", account_number: `1${number}00001` } satisfies Payee,
    /** The account number of the accomplice. */
    otherNumber: `1${number}00002`,
  };
};
