import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchCardholder, matchPayout, matchKey } from "../../src/evidence/match.ts";

type Row = Readonly<Record<string, unknown>>;

const sent = {
  beneficiary_id: "2f4c9a0e-6f0b-4a57-9d55-3c1d2b7e8a90",
  currency: "EUR",
  amount: "8120.75",
  payout_reference: "Bill 4471 of May",
};

const isOurs = (changes: Row, request: Row = {}) =>
  matchPayout({ ...sent, ...request }, { ...sent, ...request, ...changes });

describe("one field that a service lists in another way is never another's payout", () => {
  const shortReference = "P261121-7QX2M9AB";
  it.each([
    ["escaped for HTML", "Müller & Co's wares", "M&uuml;ller &amp; Co&#39;s wares"],
    ["with a word for a sign", "Miller & Co", "Miller  AND  Co"],
    ["escaped for a URL", "Bill 7/März", "Bill%207%2FM%C3%A4rz"],
    ["escaped for JSON", "Gebühr für März", String.raw`Geb\u00fchr f\u00fcr M\u00e4rz`],
    ["in the wrong character set", "Gebühr für März", "GebÃ¼hr fÃ¼r MÃ¤rz"],
    ["with signs for what is not ASCII", "Gebühr für März", "Geb?hr f?r M.rz"],
    ["its digits alone", "Bill 4471 of May", "4471"],
    ["its letters alone", "Bill 4471 of May", "Bill of May"],
    ["its words in another order", "Bill 4471 of May", "May of 4471 Bill"],
    ["masked", "Bill 4471 of May", "Bi************ay"],
    ["after the payer's name, and cut", "Bill 4471 of May", "NORTHWIND/Bill 4471"],
    ["between codes, and cut", "Bill 4471 of May", "/ROC/Bill 4471 of "],
    ["its end", "Bill 4471 of May", "71 of May"],
    ["replaced by the service's own", "Bill 4471 of May", shortReference],
    ["after the service's own", "B2", `${shortReference} B2`],
    ["after the service's own, and cut", "Bill 4471 of May", `${shortReference} Bill 4471`],
    ["replaced by a constant", "Bill 4471 of May", "PAYOUT"],
  ])("its reference %s", (_, payout_reference, listed) => {
    expect(isOurs({ payout_reference: listed }, { payout_reference })).not.toBe("different");
  });

  it.each([
    ["as a binary fraction", 8120.7500000001],
    ["with the fee", "8122.25"],
    ["without the fee", "8119.25"],
    ["without cents", "8120"],
    ["rounded", "8121"],
    ["as nothing", "0.00"],
    ["in brackets", "(8120.75)"],
    ["in cents", 812_075],
    ["in another currency", "9010.13"],
  ])("its amount %s", (_, amount) => {
    expect(isOurs({ amount })).not.toBe("different");
  });

  it.each([
    ["masked", "2f4c****"],
    ["with a prefix", "bnf:2f4c9a0e-6f0b-4a57-9d55-3c1d2b7e8a90"],
    ["without dashes", "2f4c9a0e6f0b4a579d553c1d2b7e8a90"],
    ["as another id", "91c8d2b0-1f6e-4c55-8a3b-5d9e7f6a4b21"],
    ["as a number", 48_213],
    ["as a name", "Northwind"],
  ])("its beneficiary %s", (_, beneficiary_id) => {
    expect(isOurs({ beneficiary_id })).not.toBe("different");
  });

  it.each(["eur", "978", "Euro", "€", "EUR (Euro)", "USD"])("its currency as %s", (currency) => {
    expect(isOurs({ currency })).not.toBe("different");
  });

  it("whatever stands in the field", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("beneficiary_id", "currency", "amount", "payout_reference"),
        fc.anything(),
        (field, listed) => {
          const { [field]: _, ...others }: Row = sent;
          expect(matchPayout(sent, { ...others, [field]: listed })).not.toBe("different");
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("whatever text, amount or id stands in the field", () => {
    const texts = fc.string({ unit: "grapheme" });
    fc.assert(
      fc.property(
        fc.record({ payout_reference: texts }),
        fc.oneof(
          fc.record({ payout_reference: texts }),
          fc.record({ amount: fc.oneof(texts, fc.double(), fc.integer()) }),
          fc.record({ beneficiary_id: fc.oneof(texts, fc.uuid(), fc.nat()) }),
        ),
        (request, changes) => {
          expect(isOurs(changes, request)).not.toBe("different");
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe("fields that cannot be read say nothing, however many they are:", () => {
  it.each([
    [{ beneficiary_id: "2f4c****", payout_reference: "Bi************ay", amount: "0.00" }],
    [{ beneficiary_id: null, currency: "€", amount: {}, payout_reference: "-" }],
    [{ beneficiary_id: "bnf:2f4c9a0e", payout_reference: "PAYOUT" }],
    [{ amount: "8122.25", fee_amount: "1.50", payout_reference: "PAYOUT" }],
    [{ amount: "8119.25", fee_amount: 1.5, beneficiary_id: sent.beneficiary_id.slice(0, 8) }],
    [
      {
        short_reference: "P261121-7QX2M9AB",
        payout_reference: "P261121-7QX2M9AB",
        currency: "USD",
      },
    ],
    [{ amount: 8120.7500000001, payout_reference: "PAYOUT" }],
    [{ amount: "8120", payout_reference: "PAYOUT" }],
    [{ payout_reference: "May of Bill 4471", amount: "1.00" }],
    [{ payout_reference: "Bill&#32;4471&#32;of&#32;May", amount: "1.00" }],
  ])("%j", (changes) => {
    expect(isOurs(changes)).not.toBe("different");
  });
});

describe("a payout is another's where two fields are legibly others:", () => {
  it.each([
    ["amount and reference", { amount: "75.10", payout_reference: "Bill 4472 of May" }],
    [
      "beneficiary and amount",
      { beneficiary_id: sent.beneficiary_id.replace("2f", "3f"), amount: "75.10" },
    ],
    ["currency and reference", { currency: "USD", payout_reference: "Wages" }],
    [
      "beneficiary and reference",
      { beneficiary_id: sent.beneficiary_id.replace("2f", "3f"), payout_reference: "Wages" },
    ],
  ])("%s", (_, changes) => {
    expect(isOurs(changes)).toBe("different");
    const { [Object.keys(changes)[0] ?? ""]: __, ...rest }: Row = changes;
    expect(isOurs(rest)).toBe("similar");
  });
});

describe("a cardholder listed in another way", () => {
  const john = { first_name: "Seán", last_name: "O'Brien-Müller" };

  it.each([
    [{ first_name: "Se&aacute;n", last_name: "O&#39;Brien-M&uuml;ller" }],
    [{ first_name: "S***", last_name: "O***" }],
    [{ first_name: "S.", last_name: "O'Brien-Müller" }],
    [{ first_name: "SEAN OBRIENMULLER", last_name: "" }],
    [{ first_name: "O'Brien-Müller", last_name: "Seán" }],
    [{ first_name: "Mr Seán", last_name: "O'Brien" }],
  ])("may be the same: %j", (row) => {
    expect(matchCardholder(john, row)).toBe("near");
  });

  it.each([
    ["one of the same family", { first_name: "Fiona", last_name: "O'Brien-Müller" }],
    ["one of the same first name", { first_name: "Seán", last_name: "Walsh" }],
  ])("is another person: %s", (_, row) => {
    expect(matchCardholder(john, row)).toBe("different");
  });
});

describe("a key", () => {
  const key = "0b6f1d52-9d6e-5c39-8f57-2f1f6b7c9e11";

  it.each([
    [key.toUpperCase(), "same"],
    [key.replaceAll("-", ""), "same"],
    [`{${key}}`, "same"],
    [`acct1:${key}`, "same"],
    [`acct1:${key.replaceAll("-", "")}`, "same"],
    [key.slice(0, 32), "same"],
    [key.slice(0, 20), "same"],
    [key.slice(0, 8), "near"],
    [`…${key.slice(-4)}`, "near"],
    ["0b6f****", "near"],
    ["0b6f1d52-9d6e-5c39-8f57-2f1f6b7c9e12", "different"],
    ["another", "different"],
  ])("listed as %s: %s", (spelled, match) => {
    expect(matchKey([key], spelled)).toBe(match);
  });
});
