import { describe, expect, it } from "vitest";
import { redact } from "../../src/index.ts";
import { requests } from "../support/requests.ts";
import { failedExchange } from "../support/client.ts";
import { refusal } from "../support/server.ts";
import { fc } from "../support/seeded.ts";

const IBAN = "DE89370400440532013000";
const ACCOUNT = "0532013000";
const MARKED = "MarkedValue42xyz";

/** What a reader could still make out. */
const bare = (text: string): string => text.replace(/[^a-z0-9]/gi, "").toLowerCase();

const separator = fc.oneof(
  { weight: 4, arbitrary: fc.constant("") },
  fc.stringMatching(/^[ ._/\-,:;|*#"'\u00a0\u200b()[\]]{1,3}$/),
  fc.constantFrom("%20", "%2520", "%C2%A0", "\\u00a0", "\\n", "&nbsp;", "&#32;", '\\",\\"'),
);

const written = (character: string): fc.Arbitrary<string> => {
  const code = character.charCodeAt(0);
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(character.toLowerCase(), character.toUpperCase()) },
    fc.constantFrom(
      `%${code.toString(16)}`,
      `\\u00${code.toString(16)}`,
      `&#${code};`,
      `&#x${code.toString(16)};`,
      String.fromCharCode(code + 0xfee0),
    ),
  );
};

/** A value as no form prescribes it: each character and each gap in its own way. */
const oddly = (value: string): fc.Arbitrary<string> =>
  fc
    .tuple(...Array.from(value, (character) => fc.tuple(written(character), separator)))
    .map((pairs) =>
      pairs.map(([letter, gap], i) => (i === pairs.length - 1 ? letter : letter + gap)).join(""),
    );

describe("a value that was sent", () => {
  it.each([
    "value DE89.3704.0044.0532.0130.00",
    "account 05320 13000",
    "account no 0532_013_000",
    `${IBAN.toLowerCase()} bad`,
    "0 5 3 2 0 1 3 0 0 0",
    '{"acct":[0,5,3,2,0,1,3,0,0,0]}',
    '{"acct":["0", "5", "3", "2", "0", "1", "3", "0", "0", "0"]}',
    "DE89%203704%200044%200532%200130%2000",
    "the bank's 3704/0044/0532/0130/00",
    "IBAN DE89 3704 0044 0532",
  ])("is masked in %s", (text) => {
    for (const known of [
      [ACCOUNT, IBAN],
      [IBAN, ACCOUNT],
    ]) {
      const shown = bare(redact(text, known));
      expect(shown).toContain("redacted");
      expect(shown).not.toMatch(/\d{2}/);
    }
  });

  it("is masked whatever stands between its characters, and however they are written", () => {
    fc.assert(
      fc.property(oddly(MARKED), fc.constantFrom("", "account ", "(", "\n"), (value, before) => {
        expect(redact(`${before}${value} is closed`, [MARKED])).toBe(
          `${before}[redacted] is closed`,
        );
      }),
      { numRuns: 500 },
    );
  });

  it("is masked in part, where the part is long", () => {
    const part = fc
      .tuple(fc.nat(IBAN.length - 8), fc.integer({ min: 8, max: IBAN.length }))
      .map(([start, length]) => IBAN.slice(start, Math.max(start + 8, start + length)));
    fc.assert(
      fc.property(part, (value) => {
        fc.pre(new Set(value).size >= 5);
        expect(redact(`${value.toLowerCase()} is closed`, [IBAN])).toBe("[redacted] is closed");
      }),
      { numRuns: 200 },
    );
  });

  it("is masked in the words of a refusal", async () => {
    const { error } = await failedExchange(
      "createBeneficiary",
      { ...requests.createBeneficiary, account_number: ACCOUNT, iban: IBAN },
      refusal(`account 05320 13000 of de89-3704-0044-0532-0130-00`),
    );
    expect(error).toMatchObject({ _tag: "Refused", reason: "account [redacted] of [redacted]" });
  });

  it("leaves amounts alone that share a few digits with it", () => {
    const text = "1000000.00 USD, then 25.00 on 2026-11-21 at 10:00:00";
    expect(redact(text, ["000000001234", "20261234", "1000"])).toBe(
      text.replace("1000", "[redacted]"),
    );
  });
});

describe("an id", () => {
  it.each([
    ["PO20261121000123", "20261121"],
    ["PO20261121000123", "6112 1000 12"],
    ["01234567-0123-4123-8123-012345678901", "123-0123456789"],
    ["01234567-0123-4123-8123-012345678901", "01230123"],
    ["P261121-12345678", "112112345678"],
  ])("%s is whole, though %s was sent", (id, value) => {
    const text = `payout ${id}, key ${id}: no`;
    expect(redact(text, [value])).toBe(text);
  });

  it("of the request is whole, though a value of it has the same characters", () => {
    const ids = ["acct-0532-013-000", "77"];
    expect(redact("acct-0532-013-000 and 0532-013-000", [ACCOUNT], ids)).toBe(
      "acct-0532-013-000 and [redacted]",
    );
  });

  it("that is itself a value which was sent is masked", () => {
    const token = "01234567-0123-4123-8123-012345678901";
    expect(redact(`Token ${token}!`, [token])).toBe("Token [redacted]!");
  });
});

describe("a field that holds a number", () => {
  it.each([
    ["account_number=AB12345678XY", "account_number=[redacted]"],
    ["account_number='AB12345678XY' is closed", "account_number='[redacted]' is closed"],
    ["Account number: AB1234 5678 XY9 is closed", "Account number: [redacted] is closed"],
    ["account number AB12345678XY is closed", "account number [redacted] is closed"],
    ["IBAN: XX12.3456.AB, closed", "IBAN: [redacted], closed"],
    ["card-number # X4000Y1", "card-number # [redacted]"],
    ["account_number is too long, iban: is required", undefined],
    ["account number, iban, card number 3 of 4", undefined],
    ['{"account_number":[0,5,3,2],"city":"Bonn"}', '{"account_number":"[redacted]","city":"Bonn"}'],
    ['{"iban":["D","E","8"', '{"iban":"[redacted]"'],
  ])("%s", (text, shown = text) => {
    expect(redact(text)).toBe(shown);
  });

  it("in the text of JSON leaves JSON", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("account_number=", "iban: ", "card number # ", "IBAN "),
        fc.constantFrom("", '"', "'", "\\"),
        fc.stringMatching(/^[A-Z]{2}\d{8}[A-Z]$/),
        fc.constantFrom("", '"', "]", "}", ":", "\\"),
        (name, quote, value, after) => {
          const whole = { [`${name}${quote}`]: `${name}${quote}${value}${after}`, list: [name, 7] };
          const shown = redact(JSON.stringify(whole));
          expect(shown).not.toContain(value);
          const read: unknown = JSON.parse(shown);
          expect(read).toHaveProperty("list");
        },
      ),
      { numRuns: 300 },
    );
  });
});
