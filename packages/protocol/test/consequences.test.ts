import { expect, it } from "vitest";
import { answerMeanings, consequencesOf, evidenceOf, sendings } from "../src/index.ts";

const asked = {
  operation: "createPayout",
  sent: { amount: "20.00", currency: "EUR" },
  actions: ["found", "resend", "abandon"],
} as const;

const since = "2026-11-22T14:07:33.000Z";

it.each([
  ["createPayout", "sends it again: pays twice if it was carried out"],
  [
    "createCard",
    "sends it again: no second card, if it was carried out: the service ignores or refuses the repeat of its key (unique_request_id)",
  ],
  ["payMyOwn", "sends it again: does it twice if it was carried out"],
])("a resend of %s that is in doubt says what it risks", (operation, resend) => {
  expect(consequencesOf({ ...asked, operation, inDoubtSince: since })).toMatchObject({ resend });
});

it("says what each answer does to the money, and no answer that is not possible", () => {
  expect(consequencesOf({ ...asked, actions: ["found", "abandon"] }, ["cancel the card"])).toEqual({
    found: "the run goes on with that payout, nothing is sent",
    abandon:
      "the run fails, nothing more is sent; whatever was sent stays; then it undoes: cancel the card",
  });
  expect(consequencesOf({ ...asked, inDoubtSince: since }).abandon).toContain("in doubt");
  expect(consequencesOf({ ...asked, actions: ["amend", "resend"] })).toEqual({
    amend: "sends the amended request: as far as is known, nothing of the one before stands",
    resend: "sends it again: as far as is known, nothing of it stands",
  });
});

it("says of what the service shows nowhere that its id is not confirmed", () => {
  expect(consequencesOf({ ...asked, operation: "createCard" }).found).toBe(
    "the run goes on with that card, nothing is sent; the service has no read of a card: its id is taken as you give it, not confirmed",
  );
});

it("says that another request is sent beside what was sent before", () => {
  const other = { ...asked, inDoubtSince: since, toSend: { amount: "46.20", currency: "EUR" } };
  expect(consequencesOf(other).resend).toBe(
    "sends 46.20 EUR beside what was sent before (20.00 EUR): pays both if that was carried out",
  );
});

it("has a meaning of each answer for help texts, and a risk of each send", () => {
  expect(Object.keys(answerMeanings)).toEqual(["found", "resend", "amend", "abandon"]);
  expect(sendings.every(({ sentTwice }) => sentTwice.includes("carried out"))).toBe(true);
});

it("says how the list was read, or that there is none", () => {
  const found = { operation: "createPayout", candidates: [], inDoubtSince: since } as const;
  expect(evidenceOf({ ...found, listRead: { times: 1, until: since } })).toEqual([
    "It may have been sent since 2026-11-22 14:07:33 UTC.",
    "The service's list was read once, until 2026-11-22 14:07:33 UTC: nothing in it may be it.",
  ]);
  expect(evidenceOf({ ...found, operation: "createCard" })).toEqual([
    "It may have been sent since 2026-11-22 14:07:33 UTC.",
    "The service has no list in which a card could be looked up.",
  ]);
});
