import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../src/index.ts";
import { anId, like } from "./support/like.ts";
import { type Client, signedIn } from "./support/raw-client.ts";
import { balance, createBeneficiary, createCard, createPayout } from "./support/steps.ts";

let simulator: Simulator;
let client: Client;
beforeEach(async () => {
  simulator = await startSimulator({ settleAfter: Infinity });
  client = await signedIn(simulator);
});
afterEach(() => simulator.stop());

describe("balances", () => {
  it("are opened once a currency, empty, and confirmed without data", async () => {
    const request = { currency: "GBP", name: "Pounds" };
    const { body } = await client.post("/api/v1/balances/create", request);
    expect(body).toEqual({ code: 200, message: "Success" });
    expect((await client.get("/api/v1/balances/retrieve/GBP")).body.data).toEqual({
      balance_id: anId,
      currency: "GBP",
      available_balance: "0.00",
    });
    const again = await client.post("/api/v1/balances/create", request);
    expect([again.status, again.body]).toEqual([
      400,
      { code: 400, message: "A GBP balance already exists" },
    ]);
  });

  it("refuse a currency that is missing", async () => {
    for (const path of ["retrieve/GBP", "GBP/bank_details"]) {
      const { body, status } = await client.get(`/api/v1/balances/${path}`);
      expect([status, body.message]).toEqual([400, "There is no GBP balance"]);
    }
  });

  it("hold what they opened with", async () => {
    expect([await balance(client), await balance(client, "EUR")]).toEqual([
      "100000.00",
      "50000.00",
    ]);
  });

  it("show where to send money, the same each time", async () => {
    const read = async () => (await client.get("/api/v1/balances/USD/bank_details")).body.data;
    const details = await read();
    expect(details).toMatchObject({
      status: "opened",
      local: [{ clearing_system_type: "US-ACH", currency_code: "USD" }],
      swift: [{ account_number: like(/^\d{10}$/) }],
    });
    expect(await read()).toEqual(details);
  });
});

describe("transactions", () => {
  const list = async (query = "") =>
    (await client.get(`/api/v1/transactions?page_num=1&page_size=100${query}`)).body.data;
  const types = async (query: string) =>
    (await list(query)).item_list.map((item) => item.transaction_type);

  it("list every movement, the newest first", async () => {
    const payout = await createPayout(client, await createBeneficiary(client));
    const { card_id, card_number } = await createCard(simulator, client);
    await client.post("/api/v1/cards/withdraw", {
      card_id,
      card_number,
      amount: "0.50",
      unique_request_id: "withdrawal-1",
    });
    const { item_list, total_item } = await list();
    expect(total_item).toBe(5);
    expect(item_list.map((item) => [item.transaction_type, item.amount])).toEqual([
      ["transfer", "0.50"],
      ["card charge", "100.50"],
      ["payout", "12.50"],
      ["deposit", "50000.00"],
      ["deposit", "100000.00"],
    ]);
    expect(item_list[2]).toMatchObject({
      reference_id: payout.body.data.id,
      short_reference_id: payout.body.data.short_reference,
      transaction_status: "pending",
      complete_time: "0001-01-01T00:00:00Z",
      settle_time: "0001-01-01T00:00:00Z",
    });

    expect(await types("&transaction_status=0")).toEqual(["payout"]);
    expect(await types("&transaction_type=card%20charge")).toEqual(["card charge"]);
    const { short_reference } = payout.body.data;
    expect(await types(`&short_reference_id=${short_reference}`)).toEqual(["payout"]);
    expect(await types("&scope=clients_account")).toEqual([]);
    const minuteAgo = Date.now() - 60_000;
    const now = Date.now();
    expect(await types(`&start_time=${minuteAgo}&end_time=${now}`)).toHaveLength(5);
    expect(
      await types(`&date_type=complete_time&start_time=${minuteAgo}&end_time=${now}`),
    ).toHaveLength(4);
    await simulator.setPayoutStatus(payout.body.data.id, "failed");
    expect(await types("&transaction_status=-1")).toEqual(["payout"]);
  });
});
