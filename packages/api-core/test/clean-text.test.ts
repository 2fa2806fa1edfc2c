import { describe, expect, it } from "vitest";
import { checkInput } from "../src/contract.ts";
import { cleanText, comparableText, idFault, keyFault, lettersAndDigits } from "../src/values.ts";
import { requests } from "./support/requests.ts";
import { fc } from "./support/seeded.ts";

const REFERENCE = "Rechnung Müller 17";

/** What copies and programs add to a text, and nobody sees. */
const UNSEEN = ["\u200b", "\u00ad", "\u200e", "\u2060", "\ufeff"];
const BLANKS = [" ", "\u00a0", "\u202f", "\u2009", "\u3000"];

/** One text in a spelling that looks the same. */
const spelled = (text: string) =>
  fc
    .record({
      form: fc.constantFrom("NFC", "NFD"),
      blank: fc.constantFrom(...BLANKS),
      ends: fc.array(fc.constantFrom(...BLANKS, ...UNSEEN, "\n", "\t", "\r\n"), { maxLength: 3 }),
      unseen: fc.constantFrom("", ...UNSEEN),
      at: fc.nat(text.length),
    })
    .map(({ at, blank, ends, form, unseen }) => {
      const end = ends.join("");
      const changed = `${text.slice(0, at)}${unseen}${text.slice(at)}`.replaceAll(" ", blank);
      return `${end}${changed.normalize(form)}${end}`;
    });

describe("a text from outside", () => {
  it("is cleaned once: a clean text is a fixed point, whatever it is", () => {
    const any = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom(...BLANKS, ...UNSEEN, "e", "\u0301", "\u0323", "\n") }),
    );
    fc.assert(
      fc.property(any, (text) => {
        const clean = cleanText(text);
        expect(cleanText(clean)).toBe(clean);
        expect(comparableText(clean)).toBe(comparableText(text));
      }),
    );
  });

  it("is the same in all spellings that look the same", () => {
    fc.assert(
      fc.property(spelled(REFERENCE), (text) => {
        expect(cleanText(text)).toBe(REFERENCE);
      }),
    );
  });

  it("keeps what changes its letters", () => {
    for (const text of ["می\u200cخواهم", "👩\u200d👧", "ﬁ", "Ａ", "two  blanks", "İ", "क्\u200dष"])
      expect(cleanText(text)).toBe(text);
  });

  it.each([
    "RECHNUNG MÜLLER 17",
    "Rechnung  Müller 17",
    "Ｒechnung Müller １７",
    "rechnung\u3164 müller 17",
  ])("is compared like %j", (other) => {
    expect(comparableText(other)).toBe(comparableText(REFERENCE));
  });

  it("is another one if a person would say so", () => {
    for (const other of ["Rechnung Muller 17", "Rechnung Müller 71", "Rechnung Müller 1 7", ""])
      expect(comparableText(other)).not.toBe(comparableText(REFERENCE));
    expect(comparableText("a–b")).toBe(comparableText("a-b"));
    expect(lettersAndDigits("Jean-Luc\u3164 O’Brien")).toBe("jeanlucobrien");
  });
});

describe("a request", () => {
  const beneficiary = { ...requests.createBeneficiary, bank_country: "SG" };
  const problemOf = (field: string, value: string, more: object = {}) =>
    checkInput("createBeneficiary", { ...beneficiary, ...more, [field]: value }).find(
      (fault) => fault.field === field,
    )?.problem;

  it.each([
    ["account_number", "1.23457E+12", "spreadsheet has shortened"],
    ["account_number", "1,23457e+12", "spreadsheet has shortened"],
    ["account_number", "123456789.0", "added decimals"],
    ["account_number", "12\u200d34", "U+200D"],
    ["account_number", "12–34", "U+2013"],
    ["account_number", "١٢٣٤", "U+0661"],
    ["iban", "3.70400440532E+21", "spreadsheet has shortened"],
    ["swift_code", "COBADEFF\u0000", "U+0000"],
    ["swift_code", "СОВАDEFF", "U+0421"],
    ["routing_code_value1", "3.7E+7", "spreadsheet has shortened"],
    ["nickname", "#N/A", "error of a spreadsheet"],
    ["nickname", "#######", "error of a spreadsheet"],
    ["account_holder", "M\ufffdller", "U+FFFD"],
  ])("is refused if a program has damaged its %s: %j", (field, value, problem) => {
    expect(problemOf(field, value)).toContain(problem);
  });

  it.each([
    ["routing_code_value1", "12345", { routing_code_type1: "sort_code" }, "5 digits of 6"],
    ["routing_code_value1", "21000021", { routing_code_type1: "ABA" }, "8 digits of 9"],
    ["account_number", "1926819", { bank_country: "GB" }, "7 digits of 8"],
  ])("is refused if its %s %j has lost its zeros", (field, value, more, problem) => {
    expect(problemOf(field, value, more)).toContain(problem);
  });

  it.each([
    ["account_number", "\u00a012-34 56\u200b"],
    ["account_number", "12E34"],
    ["account_number", "1234.56.78903"],
    ["nickname", "#1 Foods"],
    ["bank_name", "Sparkasse Ko\u0308ln\n"],
  ])("may have the %s %j", (field, value) => {
    expect(problemOf(field, value)).toBeUndefined();
  });
});

it.each([
  ["a\u200db", "the invisible character U+200D"],
  ["a\u2028b", "a line break (U+2028)"],
  ["a\ud800", "the control character U+D800"],
  ["2.02611E+11", "spreadsheet"],
])("an id and a key cannot be %j", (text, problem) => {
  expect(idFault(text)).toContain(problem);
  expect(keyFault(text)).toContain(problem);
});

it("a key is a text of 1 to 200 characters, without quotes", () => {
  for (const key of [undefined, 7, "", "x".repeat(201), 'a"b', "a\\b"])
    expect(keyFault(key)).toBeDefined();
  for (const key of ["salary/2026-11/e17", "Rechnung-Müller 17", "x".repeat(200)])
    expect(keyFault(key)).toBeUndefined();
});
