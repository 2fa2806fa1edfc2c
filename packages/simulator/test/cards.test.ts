import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../src/index.ts";
import { anId } from "./support/like.ts";
import { type Client, signedIn } from "./support/raw-client.ts";
import { balance, cardBody, createCard, createCardholder } from "./support/steps.ts";

let simulator: Simulator;
let client: Client;
beforeEach(async () => {
  simulator = await startSimulator({ balances: { USD: "150.00", EUR: "50.00" } });
  client = await signedIn(simulator);
});
afterEach(() => simulator.stop());

const post = (operation: string, body: unknown) => client.post(`/api/v1/cards/${operation}`, body);

describe("create", () => {
  it("charges the USD balance with the limit and answers the new card", async () => {
    const { body, status } = await post("create", await cardBody(simulator, client));
    expect([status, body]).toEqual([
      200,
      {
        code: 200,
        message: "Success",
        data: {
          card_id: anId,
          card_status: "pending",
          unique_request_id: "card-1",
        },
      },
    ]);
    expect(await balance(client)).toBe("49.50");
    expect((await simulator.state()).cards[0]).toMatchObject({
      card_limit: "100.50",
      available_balance: "100.50",
    });
  });

  it("refuses a cardholder who is unknown, pending, failed or removed", async () => {
    const body = await cardBody(simulator, client);
    const { message } = (await post("create", { ...body, card_holder_id: "none" })).body;
    expect(message).toBe("Cardholder not found");
    const card_holder_id = await createCardholder(client);
    for (const status of ["PENDING", "FAILED"] as const) {
      await simulator.setVerification(card_holder_id, status);
      const answer = await post("create", { ...body, card_holder_id });
      expect(answer.body.message).toBe(`Cardholder is not verified: ${status}`);
    }
    await simulator.setVerification(card_holder_id, "SUCCESS");
    await client.post(`/api/v1/cardholders/${card_holder_id}/remove`, {});
    const removed = await post("create", { ...body, card_holder_id });
    expect(removed.body.message).toBe("Cardholder not found");
  });

  it("refuses a balance that is unknown or not in USD, and one that holds too little", async () => {
    const body = await cardBody(simulator, client);
    const eur = (await client.get("/api/v1/balances/retrieve/EUR")).body.data.balance_id;
    for (const balance_id of ["none", eur]) {
      const answer = await post("create", { ...body, balance_id });
      expect(answer.body.message).toBe("balance_id must be that of a USD balance");
    }
    const dear = await post("create", { ...body, card_limit: 150.01 });
    expect([dear.status, dear.body.message]).toEqual([400, "Insufficient balance"]);
    expect((await simulator.state()).cards).toEqual([]);
    // What was refused has not used its key.
    expect((await post("create", body)).status).toBe(200);
  });
});

describe("a repeated unique_request_id", () => {
  it("issues no second card and answers the first one's data", async () => {
    const body = await cardBody(simulator, client);
    const first = await post("create", body);
    const second = await post("create", { ...body, card_limit: 1 });
    expect(second.body).toEqual(first.body);
    expect((await simulator.state()).cards).toHaveLength(1);
    expect(await balance(client)).toBe("49.50");
  });

  it("withdraws once; a card and a withdrawal may share a key", async () => {
    const card = await createCard(simulator, client);
    const request = { ...card, amount: "10", unique_request_id: "card-1" };
    const first = await post("withdraw", request);
    expect(first.body.data).toEqual({ ...request });
    expect((await post("withdraw", request)).body).toEqual(first.body);
    expect(await balance(client)).toBe("59.50");
  });
});

describe("withdraw", () => {
  it("refuses more than the card holds, a wrong number, and a frozen or cancelled card", async () => {
    const card = await createCard(simulator, client);
    const withdraw = async (changes: Record<string, string>) =>
      (
        await post("withdraw", {
          ...card,
          amount: "100.50",
          unique_request_id: crypto.randomUUID(),
          ...changes,
        })
      ).body.message;
    expect(await withdraw({ amount: "100.51" })).toBe("Insufficient card balance");
    expect(await withdraw({ card_number: "1" })).toBe("card_number is not that of the card");
    expect(await withdraw({ card_id: "none" })).toBe("Card not found");
    await post("freeze", { card_id: card.card_id });
    expect(await withdraw({})).toBe("Card is frozen");
    await post("cancel", { card_id: card.card_id });
    expect(await withdraw({})).toBe("Card is cancelled");
    expect(await balance(client)).toBe("150.00");
  });
});

describe("update, freeze and cancel", () => {
  it("rename, freeze once, and give back what is left once", async () => {
    const { card_id } = await createCard(simulator, client);
    const confirmed = { code: 200, message: "Success" };
    const update = { card_id, card_name: "Travel" };
    expect((await post("update", update)).body).toEqual(confirmed);
    expect((await post("freeze", { card_id })).body).toEqual(confirmed);
    expect((await post("freeze", { card_id })).body.message).toBe("Card is already frozen");
    expect((await simulator.state()).cards[0]).toMatchObject({
      card_name: "Travel",
      card_status: "frozen",
    });
    expect((await post("cancel", { card_id })).body).toEqual(confirmed);
    expect(await balance(client)).toBe("150.00");
    const again = await post("cancel", { card_id });
    expect([again.status, again.body]).toEqual([
      400,
      { code: 400, message: "Card is already cancelled" },
    ]);
    expect(await balance(client)).toBe("150.00");
    expect((await post("freeze", { card_id })).body.message).toBe("Card is cancelled");
    expect((await post("update", update)).body.message).toBe("Card is cancelled");
  });
});
