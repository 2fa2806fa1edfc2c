import { describe, expect, it } from "vitest";
import { exchange } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { success } from "../support/server.ts";

describe("createCard", () => {
  it("sends card_limit as a number and reads the card", async () => {
    const { result, sent } = await exchange(
      "createCard",
      requests.createCard,
      success({
        card_id: "card-1",
        card_status: "pending",
        unique_request_id: "0b8f5a54-6f0f-5f3e-9a10-3a1f6f1f2c3d",
      }),
    );
    expect(sent).toMatchObject({ method: "POST", path: "/api/v1/cards/create", query: {} });
    expect(JSON.parse(sent.body)).toStrictEqual({
      card_holder_id: "ch-1",
      product_code: "PREPAID",
      balance_id: "b-1",
      card_limit: 100,
      unique_request_id: "0b8f5a54-6f0f-5f3e-9a10-3a1f6f1f2c3d",
    });
    expect(result).toStrictEqual({
      card_id: "card-1",
      card_status: "pending",
      unique_request_id: "0b8f5a54-6f0f-5f3e-9a10-3a1f6f1f2c3d",
    });
  });

  it.each([
    ["0.01", "0.01"],
    ["100.10", "100.1"],
    ["70368744177663.99", "70368744177663.99"],
  ])("writes card_limit %s as the number %s", async (card_limit, written) => {
    const { sent } = await exchange(
      "createCard",
      { ...requests.createCard, card_limit },
      success({ card_id: "card-1" }),
    );
    expect(sent.body).toContain(`"card_limit":${written},`);
  });
});

describe("withdrawFromCard", () => {
  it("sends the request and reads its echo", async () => {
    const { result, sent } = await exchange(
      "withdrawFromCard",
      requests.withdrawFromCard,
      success({
        amount: "5.00",
        card_id: "card-1",
        card_number: "4000001234567899",
        unique_request_id: "1b8f5a54-6f0f-5f3e-9a10-3a1f6f1f2c3d",
      }),
    );
    expect(sent).toMatchObject({ method: "POST", path: "/api/v1/cards/withdraw", query: {} });
    expect(JSON.parse(sent.body)).toStrictEqual({
      card_id: "card-1",
      card_number: "4000001234567899",
      amount: "5.00",
      unique_request_id: "1b8f5a54-6f0f-5f3e-9a10-3a1f6f1f2c3d",
    });
    expect(result).toStrictEqual({
      amount: "5.00",
      card_id: "card-1",
      card_number: "4000001234567899",
      unique_request_id: "1b8f5a54-6f0f-5f3e-9a10-3a1f6f1f2c3d",
    });
  });
});

describe.each([
  ["updateCard", "update", { card_id: "card-1", card_name: "Travel" }],
  ["cancelCard", "cancel", { card_id: "card-1" }],
  ["freezeCard", "freeze", { card_id: "card-1" }],
] as const)("%s", (name, segment, request) => {
  it("sends the body and reads a bare confirmation", async () => {
    const { result, sent } = await exchange(name, request, success());
    expect(sent).toMatchObject({ method: "POST", path: `/api/v1/cards/${segment}`, query: {} });
    expect(sent.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(sent.body)).toStrictEqual(request);
    expect(result).toBeUndefined();
  });
});
