import { describe, expect, it } from "vitest";
import { redact } from "../../src/index.ts";
import { fc } from "../support/seeded.ts";

const digits = (least: number, most = least) =>
  fc.stringMatching(new RegExp(`^[0-9]{${least},${most}}$`));

const grouped = (value: string, size: number, separator: string): string =>
  value.match(new RegExp(`.{1,${size}}`, "g"))?.join(separator) ?? value;

const countries = fc.constantFrom("DE", "GB", "FR", "NO", "MT", "CH", "ES", "nl");

const iban = fc
  .tuple(
    countries,
    digits(2),
    fc.stringMatching(/^[A-Z0-9]{11,30}$/),
    fc.constantFrom("", " ", "-"),
    fc.boolean(),
  )
  .map(([country, check, rest, separator, lower]) => {
    const written = grouped(country + check + rest, 4, separator);
    return lower ? written.toLowerCase() : written;
  });

const card = fc.oneof(
  fc
    .tuple(digits(13, 19), fc.constantFrom("", " ", "-"))
    .map(([pan, separator]) => grouped(pan, 4, separator)),
  // American Express: 4, 6 and 5 digits.
  fc
    .tuple(digits(4), digits(6), digits(5), fc.constantFrom(" ", "-"))
    .map(([a, b, c, separator]) => a + separator + b + separator + c),
);

const account = digits(7, 34);
const token = fc.stringMatching(/^[A-Za-z0-9._~+/-]{16,60}={0,2}$/);

const before = fc.constantFrom(
  "",
  " ",
  ": ",
  '"',
  "'",
  "(",
  "=",
  "#",
  "/",
  "no. ",
  "account ",
  "\n",
);
const after = fc.constantFrom("", " ", ".", ",", '"', ")", ";", " refused", "\n");

/** What a reader could still make out: the letters and digits of it, without their separators. */
const bare = (text: string): string => text.replace(/[^a-z0-9]/gi, "");

describe("redact", () => {
  it.each([
    ["IBANs", iban],
    ["card numbers", card],
    ["account numbers", account],
  ])("lets no %s through, wherever they stand", (_, secrets) => {
    fc.assert(
      fc.property(before, secrets, after, (before, secret, after) => {
        const shown = redact(before + secret + after);
        expect(shown).toBe(`${before}[redacted]${after}`);
      }),
      { numRuns: 300 },
    );
  });

  it("lets no bearer token through", () => {
    fc.assert(
      fc.property(
        before,
        token,
        fc.constantFrom("Bearer", "bearer", "BEARER"),
        (before, token, bearer) => {
          const shown = redact(`${before}${bearer} ${token} expired`);
          expect(shown).toMatch(/bearer \[redacted\] expired$/i);
        },
      ),
    );
  });

  it("lets no known value through, whatever it looks like", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4 }), fc.string(), fc.string(), (known, before, after) => {
        fc.pre(!"[redacted]".includes(known) && !"Bearer [redacted]".includes(known));
        expect(redact(before + known + after, [known])).not.toContain(known);
      }),
    );
  });

  const field = fc.constantFrom(
    "account_number",
    "iban",
    "card_number",
    "auth_token",
    "identification_value",
    "routing_code_value1",
    "routing_code_value2",
  );

  it("lets no sensitive field of JSON through, nested as text, or cut short", () => {
    fc.assert(
      fc.property(
        field,
        fc.string({ minLength: 6, unit: "grapheme-ascii" }),
        fc.nat(2),
        fc.nat(20),
        (field, value, depth, cut) => {
          // Values that the rest of the JSON holds as well say nothing.
          fc.pre(bare(value).length > 4);
          let json = JSON.stringify({ code: 400, [field]: value, city: "Bonn" });
          for (let level = 0; level < depth; level++) json = JSON.stringify({ details: json });
          const written = JSON.stringify(value).slice(1, -1);
          expect(redact(json)).not.toContain(written);
          expect(bare(redact(json))).not.toContain(bare(value));
          const start = json.indexOf(field) + field.length;
          const shown = redact(json.slice(0, start + 4 + cut)).slice(start);
          expect(shown).not.toContain(value.slice(0, 4));
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([
    ["a UUID", fc.uuid()],
    ["a UUID in capitals", fc.uuid().map((uuid) => uuid.toUpperCase())],
    ["a UUID of digits", fc.constant("01234567-0123-4123-8123-012345678901")],
    [
      "a date",
      fc
        .date({ noInvalidDate: true, min: new Date("1000-01-01"), max: new Date("9999-12-31") })
        .map((date) => date.toISOString().slice(0, 10)),
    ],
    [
      "a time",
      fc
        .date({ noInvalidDate: true, min: new Date("1000-01-01"), max: new Date("9999-12-31") })
        .map((date) => date.toISOString()),
    ],
    ["a time with an offset", fc.constant("2026-11-21T10:00:00+08:00")],
    [
      "an amount",
      fc.tuple(fc.nat(999_999_999_999), digits(2)).map(([whole, part]) => `${whole}.${part}`),
    ],
    ["a small number", fc.nat(999_999).map(String)],
    [
      "an id after its name",
      fc
        .tuple(
          fc.constantFrom("payout_id", "card_id", "card_holder_id", "unique_request_id", "id"),
          fc.constantFrom('": "', '":', "=", ": "),
          fc.constantFrom("12345678", "1234567890123456789", "PO20261121000123", "DE-20261121"),
        )
        .map(([name, between, id]) =>
          between.startsWith('"') ? `"${name}${between}${id}"` : name + between + id,
        ),
    ],
    ["an id after its name, in words", fc.constant("payout_id 12345678 is unknown")],
    ["an id of letters and digits", fc.constantFrom("PO20261121000123", "TX20261121000123")],
    ["a short reference", fc.constantFrom("P261121-AB12CD34", "P261121-12345678")],
    [
      "plain words",
      fc.constantFrom("Balance is too low", "in 24 hours", "HTTP 502 and no envelope"),
    ],
  ])("leaves %s alone", (_, harmless: fc.Arbitrary<string>) => {
    fc.assert(
      fc.property(before, harmless, after, (before, text, after) => {
        const whole = before + text + after;
        expect(redact(whole)).toBe(whole);
      }),
      { numRuns: 100 },
    );
  });

  it("leaves ids that are given alone, and no known value", () => {
    expect(redact("payout 12345678 of 87654321", [], ["12345678"])).toBe(
      "payout 12345678 of [redacted]",
    );
    expect(redact('{"payout_id":"12345678"}', ["12345678"], ["12345678"])).toBe(
      '{"payout_id":"[redacted]"}',
    );
  });

  it("takes no other field for an id", () => {
    expect(redact('{"account_number":"12345678","paid":"12345678","valid:":12345678}')).toBe(
      '{"account_number":"[redacted]","paid":"[redacted]","valid:":[redacted]}',
    );
  });

  it("masks several kinds in one message and leaves the rest", () => {
    expect(
      redact(
        "payout f0c8a2b4-8f5e-4f0e-8a43-0f2f9c5d7e11 of 1234567.89 on 2026-11-21 to " +
          "GB29 NWBK 6016 1331 9268 19 / 4000 0012 3456 7899 / acc#000123456789 failed",
      ),
    ).toBe(
      "payout f0c8a2b4-8f5e-4f0e-8a43-0f2f9c5d7e11 of 1234567.89 on 2026-11-21 to " +
        "[redacted] / [redacted] / acc#[redacted] failed",
    );
  });
});
