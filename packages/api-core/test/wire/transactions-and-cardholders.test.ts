import { describe, expect, it } from "vitest";
import { exchange } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { success } from "../support/server.ts";

const page = (item: unknown) => success({ total_item: 1, total_page: 1, item_list: [item] });

describe("listTransactions", () => {
  it("sends every filter in the query and reads the items", async () => {
    const { result, sent } = await exchange(
      "listTransactions",
      {
        page_num: 1,
        page_size: 100,
        scope: "house_account",
        short_reference_id: "P261121-AB12CD34",
        transaction_type: "card charge",
        transaction_status: "-1",
        date_type: "complete_time",
        start: 1_763_600_000_000,
        end: 1_763_600_000_001,
      },
      page({
        transaction_id: "t-1",
        account_name: "Main",
        transaction_type: "card charge",
        currency: "USD",
        amount: "-3.10",
        create_time: "2026-11-20T10:00:00+08:00",
        settle_time: "2026-11-20T11:00:00+08:00",
        complete_time: "0001-01-01T00:00:00Z",
        transaction_status: "failed",
        reference_id: "f0c8a2b4-8f5e-4f0e-8a43-0f2f9c5d7e11",
        short_reference_id: "P261121-AB12CD34",
      }),
    );
    expect(sent).toMatchObject({ method: "GET", path: "/api/v1/transactions", body: "" });
    expect(sent.query).toStrictEqual({
      page_num: "1",
      page_size: "100",
      scope: "house_account",
      short_reference_id: "P261121-AB12CD34",
      transaction_type: "card charge",
      transaction_status: "-1",
      date_type: "complete_time",
      start_time: "1763600000000",
      end_time: "1763600000001",
    });
    expect(result).toStrictEqual({
      total_item: 1,
      total_page: 1,
      unreadable: [],
      item_list: [
        {
          transaction_id: "t-1",
          account_name: "Main",
          transaction_type: "card charge",
          currency: "USD",
          amount: "-3.10",
          create_time: "2026-11-20T10:00:00+08:00",
          settle_time: "2026-11-20T11:00:00+08:00",
          transaction_status: "failed",
          reference_id: "f0c8a2b4-8f5e-4f0e-8a43-0f2f9c5d7e11",
          short_reference_id: "P261121-AB12CD34",
        },
      ],
    });
  });

  it("keeps types and statuses that the document does not list", async () => {
    const item = {
      transaction_id: "t-1",
      transaction_type: "chargeback",
      transaction_status: "in_review",
      currency: "USD",
      amount: "0",
    };
    const { result } = await exchange("listTransactions", requests.listTransactions, page(item));
    expect(result).toMatchObject({ item_list: [item] });
  });
});

describe("createCardholder", () => {
  it("sends every field, the delivery address under its assumed name", async () => {
    const { result, sent } = await exchange(
      "createCardholder",
      {
        email: "ada@example.com",
        first_name: "Ada",
        last_name: "Lovelace",
        date_birth: "1990-12-10",
        phone_number: "+1 512 555 0100",
        residential_address: "2 Main Street",
        delivery_address: "3 Main Street",
        card_holder_status: -1,
      },
      success({ card_holder_id: "ch-1" }),
    );
    expect(sent).toMatchObject({ method: "POST", path: "/api/v1/cardholders/create", query: {} });
    expect(JSON.parse(sent.body)).toStrictEqual({
      email: "ada@example.com",
      first_name: "Ada",
      last_name: "Lovelace",
      date_birth: "1990-12-10",
      phone_number: "+1 512 555 0100",
      residential_address: "2 Main Street",
      delivery_address: "3 Main Street",
      card_holder_status: -1,
    });
    expect(result).toStrictEqual({ card_holder_id: "ch-1" });
  });

  it("reads an id that is a number", async () => {
    const { result } = await exchange(
      "createCardholder",
      requests.createCardholder,
      success({ card_holder_id: 9_007_199_254_740_991, card_holder_status: "PENDING" }),
    );
    expect(result).toStrictEqual({ card_holder_id: "9007199254740991" });
  });
});

describe("listCardholders", () => {
  it("sends page and filters under their assumed names and reads the items", async () => {
    const { result, sent } = await exchange(
      "listCardholders",
      {
        page_num: 1,
        page_size: 50,
        direct_account_id: "da-1",
        card_account_id: "ca-1",
        card_holder_status: 2,
        name: "Ada L",
      },
      page({
        card_holder_id: "ch-1",
        card_holder_status: "INCOMPLETE",
        card_num: 2,
        first_name: "Ada",
        last_name: "Lovelace",
        create_time: "2026-11-20T10:00:00+08:00",
        update_time: "0001-01-01T00:00:00Z",
      }),
    );
    expect(sent).toMatchObject({ method: "GET", path: "/api/v1/cardholders", body: "" });
    expect(sent.query).toStrictEqual({
      page_num: "1",
      page_size: "50",
      direct_account_id: "da-1",
      card_account_id: "ca-1",
      card_holder_status: "2",
      name: "Ada L",
    });
    expect(result).toStrictEqual({
      total_item: 1,
      total_page: 1,
      unreadable: [],
      item_list: [
        {
          card_holder_id: "ch-1",
          card_holder_status: "INCOMPLETE",
          card_num: 2,
          first_name: "Ada",
          last_name: "Lovelace",
          create_time: "2026-11-20T10:00:00+08:00",
        },
      ],
    });
  });

  it.each([
    ["a number", 1, "1"],
    ["a text that the document does not show", "FROZEN", "FROZEN"],
  ])("keeps a status that is %s", async (_, card_holder_status, read) => {
    const { result } = await exchange(
      "listCardholders",
      requests.listCardholders,
      page({ card_holder_id: "ch-1", card_holder_status, card_num: null }),
    );
    expect(result).toMatchObject({
      item_list: [{ card_holder_id: "ch-1", card_holder_status: read, card_num: null }],
    });
  });
});

describe("removeCardholder", () => {
  it("sends an empty JSON object and reads a bare confirmation", async () => {
    const { result, sent } = await exchange(
      "removeCardholder",
      { card_holder_id: "ch-1" },
      success(),
    );
    expect(sent).toMatchObject({
      method: "POST",
      path: "/api/v1/cardholders/ch-1/remove",
      query: {},
      body: "{}",
    });
    expect(sent.headers["content-type"]).toBe("application/json");
    expect(result).toBeUndefined();
  });
});
