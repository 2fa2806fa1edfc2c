import { describe, expect, it } from "vitest";
import { describeAccount, likelyPayeeMark, payeeMark, personMarks } from "../src/account.ts";

const IBAN = "DE89370400440532013000";
const german = { iban: IBAN, account_holder: "Bürobedarf GmbH", bank_country: "DE" };
const american = {
  account_number: "000123456789",
  bank_country: "US",
  routing_code_type1: "aba",
  routing_code_value1: "021000021",
};
const swift = { account_number: "000123456789", bank_country: "US", swift_code: "CHASUS33" };

describe("the mark of a payee", () => {
  it.each([
    { ...german, clearing_system: "SEPA" },
    { ...german, account_holder: "Buerobedarf", bank_name: "Other", swift_code: "COBADEFFXXX" },
    { ...german, account_number: "0532013000", account_currency: "USD" },
    { iban: "de89 3704 0044 0532 0130 00" },
    { iban: "DE89\u00a03704\u200b0044-0532-0130-00" },
    { iban: "ＤＥ８９３７０４００４４０５３２０１３０００" },
    { account_number: IBAN },
    { account_number: "de89 3704 0044 0532 0130 00", bank_country: "DE" },
    { beneficiary_bank_details: { iban: IBAN, bank_country_code: "DE" } },
  ])("is that of its IBAN alone: %j", (spelled) => {
    expect(payeeMark(spelled)).toBe(payeeMark(german));
    expect(likelyPayeeMark(spelled)).toBeUndefined();
  });

  it.each([
    [{ ...american, account_number: "000-123 456.789" }, american],
    [{ ...american, routing_code_type1: "ABA number", clearing_system: "ACH" }, american],
    [{ ...swift, swift_code: "chasus33xxx" }, swift],
    [
      { account_number: "12-34", bank_country: "SG" },
      { account_number: "1234", bank_country: "sg" },
    ],
  ])("is that of number and bank if it has no IBAN: %j", (spelled, plain) => {
    expect(payeeMark(spelled)).toBe(payeeMark(plain));
  });

  it("is another one for an approval if a number beside the IBAN is another account", () => {
    const approved = (one: object) => describeAccount(one, (mark) => mark).mark;
    expect(approved({ ...german, account_number: "0532013000" })).toBe(approved(german));
    expect(approved({ ...german, account_number: "999" })).not.toBe(approved(german));
  });

  it("is another one for each account", () => {
    const accounts = [
      german,
      { ...german, iban: "NL91ABNA0417164300" },
      american,
      { ...american, account_number: "000123456780" },
      { ...american, routing_code_value1: "026009593" },
      swift,
      { ...swift, swift_code: "CHASUS33ABC" },
      { account_number: "000123456789", bank_country: "SG" },
      // The form of an IBAN, with wrong check digits.
      { account_number: "DE88370400440532013000", bank_country: "DE" },
    ];
    expect(new Set(accounts.map(payeeMark)).size).toBe(accounts.length);
    expect(payeeMark({ account_holder: "Ada" })).toBeUndefined();
    expect(payeeMark(undefined)).toBeUndefined();
  });

  it("for likely duplicates is the same whichever codes name the bank", () => {
    const both = { ...american, swift_code: "CHASUS33" };
    expect(new Set([both, american, swift].map(likelyPayeeMark)).size).toBe(1);
    expect(likelyPayeeMark({ ...swift, bank_country: "CA" })).not.toBe(likelyPayeeMark(swift));
  });

  it("goes with a description for the approver, and differs even if no number is shown", () => {
    const keyed = (mark: string) => `keyed ${mark}`;
    expect(describeAccount(german, keyed)).toEqual({
      mark: `keyed ${payeeMark(german)}`,
      shown: "Bürobedarf GmbH, DE, account ending in 3000",
    });
    const hidden = (account_holder: string) => describeAccount({ account_holder }, keyed).mark;
    expect(hidden("Ada")).not.toBe(hidden("Mallory"));
  });
});

describe("the marks of a person", () => {
  const ada = {
    first_name: "Ada",
    last_name: "Lovelace",
    date_birth: "1990-12-10",
    email: "ada@example.com",
  };

  it.each([
    { first_name: "ADA ", last_name: "Love\u200blace" },
    { first_name: "Lovelace", last_name: "Ada" },
    { first_name: "Âda" },
  ])("are those of the name and day of birth: %j", (spelled) => {
    const other = { ...ada, email: "other@example.com", ...spelled };
    expect(personMarks(other).payee).toBe(personMarks(ada).payee);
    expect(personMarks(other).alias).not.toBe(personMarks(ada).alias);
  });

  it("and of the email", () => {
    const other = { ...ada, first_name: "A.", email: " ADA@example.com" };
    expect(personMarks(other).alias).toBe(personMarks(ada).alias);
    expect(personMarks(other).payee).not.toBe(personMarks(ada).payee);
  });

  it("are of another person on another day of birth, and say nothing plainly", () => {
    const twin = personMarks({ ...ada, date_birth: "1990-12-11" });
    expect(twin.payee).not.toBe(personMarks(ada).payee);
    expect(JSON.stringify(personMarks(ada))).not.toMatch(/ada|1990|example/i);
    expect(personMarks(ada, () => "keyed")).toEqual({
      payee: "person/keyed",
      alias: "person/keyed",
    });
    expect(personMarks({})).toEqual({ payee: null, alias: null });
  });
});
