import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  matchAmount,
  matchCode,
  matchText,
  matchCardholder,
  matchPayout,
} from "../../src/evidence/match.ts";

const sent = {
  beneficiary_id: "8b1c2d3e-0000-4000-8000-00000000000a",
  currency: "USD",
  amount: "3500.00",
  payout_reference: "Invoice 2026-11 Straße",
};

describe("an amount", () => {
  it.each([
    ["3500.00", "3500.00", "same"],
    ["3500.00", "3500", "same"],
    ["3500.00", "3500.0", "same"],
    ["3500.00", "03500.000", "same"],
    ["3500.00", " 3500 ", "near"],
    ["3500.00", "3,500.00", "near"],
    ["3500.00", "3.500,00", "near"],
    ["3500.00", "3 500,00", "near"],
    ["3500.00", "3'500.00", "near"],
    ["3500.00", "USD 3,500.00", "near"],
    ["3500.00", "$3500", "near"],
    ["3500.00", "-3500.00", "near"],
    ["3500.00", "３５００", "near"],
    // A point or comma may group or divide: any reading that fits counts.
    ["1000", "1.000", "near"],
    ["1000", "1,000", "near"],
    ["1.5", "1,500", "near"],
    ["1500000", "15,00,000", "near"],
    ["3500.00", 3500, "same"],
    ["3500.00", "3500.01", "different"],
    // Cents, or another unit.
    ["3500.00", "350000", "near"],
    ["3500.00", 350000, "near"],
    ["0.10", "10", "near"],
    ["1234.50", "123450", "near"],
    ["1234.50", "1,234,500", "near"],
    ["3500.00", "350", "near"],
    ["3500.00", "350001", "different"],
    ["3500.00", "305000", "different"],
    ["3500.00", "3,501.00", "different"],
    ["3500.00", "", "unreadable"],
    ["3500.00", "n/a", "unreadable"],
    ["3500.00", null, "unreadable"],
    ["3500.00", undefined, "unreadable"],
    ["3500.00", { value: 3500 }, "unreadable"],
    ["3500.00", "3.5e3", "unreadable"],
  ] as const)("%s, listed as %j: %s", (amount, listed, match) => {
    expect(matchAmount(amount, listed)).toBe(match);
  });

  const amounts = fc
    .tuple(fc.nat({ max: 10_000_000 }), fc.nat({ max: 99 }))
    .map(([whole, cents]) => ({ whole, cents: String(cents).padStart(2, "0") }));

  it("is never certainly another one, however it is grouped", () => {
    const grouped = (whole: number, separator: string) =>
      String(whole).replaceAll(/\B(?=(\d{3})+$)/g, separator);
    fc.assert(
      fc.property(
        amounts,
        fc.constantFrom([",", "."], [".", ","], [" ", ","], ["'", "."], ["_", "."], ["", "."]),
        fc.constantFrom("", " ", "USD ", "US$"),
        ({ cents, whole }, [separator = "", point = ""], before) => {
          const listed = `${before}${grouped(whole, separator)}${point}${cents}`;
          expect(matchAmount(`${whole}.${cents}`, listed)).not.toBe("different");
        },
      ),
    );
  });

  it("is the same only where it is the same number", () => {
    fc.assert(
      fc.property(amounts, amounts, (a, b) => {
        const [one, other] = [`${a.whole}.${a.cents}`, `${b.whole}.${b.cents}`];
        expect(matchAmount(one, other) === "same").toBe(Number(one) === Number(other));
      }),
    );
  });
});

describe("a text", () => {
  it.each([
    ["Invoice 1", "Invoice 1", "same"],
    ["", undefined, "same"],
    [undefined, null, "same"],
    ["Invoice 1", "INVOICE 1", "near"],
    ["Invoice 1", "  invoice   1 ", "near"],
    ["Invoice 1", "Invoice-1", "near"],
    ["Ｉｎｖｏｉｃｅ 1", "Invoice 1", "near"],
    ["Straße", "STRASSE", "near"],
    ["Zoë", "ZOE", "near"],
    ["Invoice 2026-11-00017", "Invoice 2026-11", "near"],
    ["Invoice 2026", "REF Invoice 2026", "near"],
    ["Invoice 1", "", "unreadable"],
    ["", "A reference of the service's own", "unreadable"],
    // Stripped of what is not ASCII, transliterated, cut.
    ["Überweisung  Müller/Söhne Nr. 2026-1", "berweisung  MllerShne Nr 20261", "near"],
    ["Überweisung  Müller/Söhne Nr. 2026-1", "Uberweisung Muller Sohne Nr 2026 1", "near"],
    ["Überweisung  Müller/Söhne Nr. 2026-1", "UEBERWEISUNG MUELLER/SOEHNE NR. 2026-1", "near"],
    ["Überweisung  Müller/Söhne Nr. 2026-1", "Überweisung  Müller", "near"],
    ["Überweisung  Müller/Söhne Nr. 2026-1", "berweisung  Mlle", "near"],
    ["Überweisung  Müller/Söhne Nr. 2026-1", "Ueberw", "near"],
    ["U\u0308berweisung", "berweisung", "near"],
    ["Łódź Ørsted", "Lodz Orsted", "near"],
    ["Łódź Ørsted", "d rsted", "near"],
    ["Ørsted", "Oersted", "near"],
    ["Счёт 17", "17", "near"],
    ["Счёт 17", "Schet 17", "near"],
    ["Счёт 17", "Счёт 18", "different"],
    ["Invoice 1", "-", "unreadable"],
    ["Счёт", "Schet", "near"],
    ["发票", "Fapiao", "near"],
    ["Счёт", "Акт", "different"],
    ["发票", "合同", "different"],
    ["Überweisung 1", "Überweisung 2", "different"],
    ["Rechnung Müller", "Rechnung Maier", "different"],
    ["Invoice 1", { text: "Invoice 1" }, "unreadable"],
    ["Invoice 1", 2 ** 64, "unreadable"],
    ["Invoice 1", 2 ** 80, "unreadable"],
    ["Invoice 1", "3.1489e+98", "unreadable"],
    // Twelve hexadecimal digits are no number, although JavaScript reads them as one.
    ["81b8a03f97e8", "31489056e091", "different"],
    ["2026", "2027", "different"],
    ["Invoice 1", "Invoice 2", "different"],
  ] as const)("%j, listed as %j: %s", (text, listed, match) => {
    expect(matchText(text, listed)).toBe(match);
  });
});

it.each([
  ["abc-1", "ABC-1", "near"],
  ["abc-1", "abc1", "near"],
  ["abc-1", "abd-1", "different"],
  ["17", "9", "different"],
  // Of another form, it names what it names in another way.
  ["abc-1", "abc-12", "unreadable"],
  ["abc-1", "a**-1", "unreadable"],
  ["abc-1", "", "unreadable"],
  ["abc-1", "--", "unreadable"],
  ["abc-1", null, "unreadable"],
] as const)("the id %s, listed as %j: %s", (id, listed, match) => {
  expect(matchCode(id, listed)).toBe(match);
});

describe("a payout", () => {
  it("is as it was sent only to the last field", () => {
    expect(matchPayout(sent, sent)).toBe("exact");
    expect(matchPayout(sent, { ...sent, amount: "3500" })).toBe("exact");
    expect(matchPayout(sent, { ...sent, currency: "usd" })).toBe("near");
    expect(matchPayout(sent, { ...sent, currency: "US$" })).toBe("near");
  });

  it.each(["beneficiary_id", "currency", "amount", "payout_reference"])(
    "without a readable %s may be it",
    (field) => {
      const { [field as keyof typeof sent]: _, ...row } = sent;
      expect(matchPayout(sent, row)).toBe("near");
      expect(matchPayout(sent, { ...row, [field]: {} })).toBe("near");
    },
  );

  it.each([
    { beneficiary_id: sent.beneficiary_id.replace("8b", "9b") },
    { currency: "EUR" },
    { amount: "3500.01" },
    { payout_reference: "Invoice 2026-12" },
  ])("is another one with %j only where something else differs, too", (changes) => {
    expect(matchPayout(sent, { ...sent, ...changes })).toBe("similar");
    // What cannot be read does not differ.
    expect(matchPayout(sent, changes)).toBe("similar");
    const [other] = ["amount", "currency"].filter((field) => !(field in changes));
    const both = { ...changes, [other ?? ""]: other === "amount" ? "17.00" : "CHF" };
    expect(matchPayout(sent, { ...sent, ...both })).toBe("different");
    expect(matchPayout(sent, both)).toBe("different");
  });

  it("is never certainly another one for the way in which texts are written", () => {
    const writings: ReadonlyArray<(text: string) => string> = [
      (text) => text.toUpperCase(),
      (text) => text.toLowerCase(),
      (text) => ` ${text}  `,
      (text) => text.normalize("NFKD"),
      (text) => text.replaceAll(/\s+/gu, "  "),
      (text) => text.replaceAll(/\P{ASCII}/gu, ""),
      (text) => text.normalize("NFD").replaceAll(/\p{M}/gu, ""),
      (text) => text.slice(0, 18),
      (text) => text.replaceAll(/[^\w ]/g, "").slice(0, 18),
      () => "",
    ];
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 1 }),
        fc.constantFrom(...writings),
        (payout_reference, write) => {
          const row = { ...sent, payout_reference: write(payout_reference) };
          expect(matchPayout({ ...sent, payout_reference }, row)).not.toBe("different");
        },
      ),
    );
  });
});

describe("a cardholder", () => {
  const ada = { first_name: "Ada", last_name: "Lovelace" };

  // An odd row has other JSON types than the documented ones, and its numbers are decoded to texts.
  it.each([
    { first_name: undefined, last_name: "18446744073709552000" },
    { first_name: "1e+21", last_name: undefined },
    { first_name: 1, last_name: 2 },
  ])("whose names are listed as numbers may be anybody: %j", (row) => {
    expect(matchCardholder(ada, row)).toBe("near");
  });

  it.each([
    [{ first_name: "Ada", last_name: "Lovelace" }, "exact"],
    [{ first_name: "ADA", last_name: "LOVELACE" }, "near"],
    [{ first_name: "Ada ", last_name: " Lovelace" }, "near"],
    [{ first_name: "Lovelace", last_name: "Ada" }, "near"],
    [{ first_name: "Ada Lovelace", last_name: "" }, "near"],
    [{ last_name: "Lovelace" }, "near"],
    [{}, "near"],
    [{ first_name: "A", last_name: "Lovelac" }, "near"],
    [{ first_name: "Adam", last_name: "Lovelace" }, "near"],
    [{ first_name: "Adele", last_name: "Lovelace" }, "different"],
    [{ first_name: "Grace", last_name: "Hopper" }, "different"],
  ] as const)("listed as %j: %s", (row, likeness) => {
    expect(matchCardholder(ada, row)).toBe(likeness);
  });
});
