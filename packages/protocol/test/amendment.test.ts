import { expect, it } from "vitest";
import { amendmentFaults, amendRequest } from "../src/index.ts";

it.each([
  ["createPayout", { payout: { amount: "20.00" }, beneficiary_id: "b-1" }, []],
  ["createCard", { card: { card_limit: "20.00" } }, []],
  ["payMyOwn", { request: { amount: "20.00" } }, []],
  ["createPayout", { amount: "20.00" }, ["amount"]],
  ["createPayout", { payout: {} }, ["payout"]],
  ["createPayout", { payout: null }, ["payout"]],
  ["createPayout", { payout: { beneficiary_id: "b-1" } }, ["payout.beneficiary_id"]],
  ["createPayout", { beneficiary_id: null, card: {} }, ["beneficiary_id", "card"]],
  ["createPayout", { payout: { unique_request_id: "k" } }, ["payout.unique_request_id"]],
  ["createCard", { card: { card_holder_id: "c" } }, ["card.card_holder_id"]],
  ["payMyOwn", { request: { unique_request_id: "k" } }, ["request.unique_request_id"]],
  ["createPayout", {}, ["amend"]],
  ["createPayout", "20.00", ["amend"]],
  ["createPayout", [], ["amend"]],
])("of %s by %j has faults at %j", (operation, amendment, fields) => {
  expect(amendmentFaults(operation, amendment).map(({ field }) => field)).toEqual(fields);
});

it("changes the fields of the request, and takes away what is null", () => {
  const request = { beneficiary_id: "b-1", amount: "1.00", payout_reference: "x" };
  const amendment = { beneficiary_id: "b-2", payout: { amount: "2.00", payout_reference: null } };
  expect(amendRequest("createPayout", request, amendment)).toEqual({
    beneficiary_id: "b-2",
    amount: "2.00",
  });
});
