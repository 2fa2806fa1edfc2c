import { describe, expect, it } from "vitest";
import { redact } from "../../src/index.ts";
import { failedExchange } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { refusal } from "../support/server.ts";
import { fc } from "../support/seeded.ts";

/** Values that stand in no other word. */
const person = {
  email: "quetzal@example.org",
  first_name: "Quetzalina",
  last_name: "Vq",
  date_birth: "1971-03-29",
  phone_number: "+49 1522 7381946",
  card_holder_status: 0,
} as const;
const beneficiary = {
  ...requests.createBeneficiary,
  nickname: "Qzl 7",
  email: "quetzal@example.org",
  first_name: "Quetzalina",
  last_name: "Vq",
  account_holder: "Quetzalina Vq",
  // Long, so that little is left of a text once it is masked.
  address: `Quetzalweg 77, ${"Quetzalhof, ".repeat(15)}Quetzalstadt`,
  city: "Qzstadt",
  postal_code: "90877",
} as const;

const encodings: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "in capitals": (text) => text.toUpperCase(),
  "percent-encoded": encodeURIComponent,
  "as JSON in JSON": (text) => JSON.stringify(JSON.stringify(text)),
  "with other separators": (text) => text.replaceAll(/[ .@-]/g, "_"),
  "with points": (text) => text.replaceAll(" ", "."),
};

const MARKS = /quetzal|qzstadt|1971.?03.?29|7381946/i;

describe("what says of whom a request is", () => {
  it.each(Object.entries(encodings))(
    "is masked where the service repeats it, %s",
    async (_, encode) => {
      for (const value of Object.values(person).filter((one) => typeof one === "string")) {
        const said = refusal(`The value ${encode(value)} is not valid: ${encode(value)}`);
        const { error } = await failedExchange("createCardholder", { ...person }, said);
        const shown = JSON.stringify([error, error.message]);
        expect(shown).not.toMatch(MARKS);
      }
    },
  );

  it("is masked wherever a long answer is cut", async () => {
    const values = [beneficiary.address, beneficiary.account_holder, beneficiary.email];
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 1_400 }),
        fc.integer({ min: 0, max: 60 }),
        fc.constantFrom(...values),
        fc.boolean(),
        async (before, times, value, isEnvelope) => {
          const message = `${"x".repeat(before)} ${`${value} `.repeat(times)}${value}`;
          const reply = isEnvelope ? refusal(message) : { status: 400, body: message };
          const { error } = await failedExchange("createBeneficiary", beneficiary, reply);
          expect(JSON.stringify([error, error.message])).not.toMatch(/quetz/i);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("is masked as a word where it is short", async () => {
    const said = refusal("Customer Vq of 90877, born 1971-03-29, is not known");
    const { error } = await failedExchange("createBeneficiary", beneficiary, said);
    expect(error.message).not.toMatch(/\bVq\b|90877/);
  });

  it("hides no other word", () => {
    const personal = ["Vq", "Example Supplies GmbH"];
    expect(redact("Vquer, for example: supplies of vq", { personal })).toBe(
      "Vquer, for example: supplies of vq",
    );
    expect(redact("Vq: example-supplies, GMBH", { personal })).toBe("[redacted]: [redacted]");
  });
});
