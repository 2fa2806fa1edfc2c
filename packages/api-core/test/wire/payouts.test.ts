import { describe, expect, it } from "vitest";
import { exchange } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { success } from "../support/server.ts";

const payout_id = "f0c8a2b4-8f5e-4f0e-8a43-0f2f9c5d7e11";
const beneficiary_id = "7b6f1a52-4f51-4ddd-9c4f-0c2f7a7f1a01";
const payer_id = "5d2a90c1-3b6e-4b0f-9a51-2f1f6c1d8e22";
const unique_request_id = "0b8f5a54-6f0f-5f3e-9a10-3a1f6f1f2c3d";

describe("createPayout", () => {
  it("sends every field of the document and reads the create shape", async () => {
    const request = {
      currency: "USD",
      amount: "100.50",
      payout_reason: "salary",
      payout_reference: "November",
      payment_date: "2026-11-21",
      beneficiary_id,
      is_payer: "Y",
      payer_id,
      entity_type: "individual",
      company_name: "",
      first_name: "Ada",
      last_name: "Lovelace",
      birth_date: "1990-12-10",
      country: "US",
      address: "2 Main Street",
      city: "Austin",
      state_or_province: "TX",
      postal_code: "73301",
      identification_type: "passport",
      identification_value: "X1234567",
      unique_request_id,
    };
    const { result, sent } = await exchange(
      "createPayout",
      request,
      success({
        id: payout_id,
        amount: "100.50",
        currency: "USD",
        beneficiary_id,
        payer_id,
        payment_date: "2026-11-21T00:00:00+08:00",
        reason: "salary",
        reference: "November",
        short_reference: "P261121-AB12CD34",
        status: "processing",
        unique_request_id,
        create_time: "2026-11-20T10:00:00+08:00",
        update_time: "2026-11-20T10:00:01+08:00",
      }),
    );
    expect(sent).toMatchObject({ method: "POST", path: "/api/v1/payouts/create", query: {} });
    expect(sent.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(sent.body)).toStrictEqual(request);
    expect(result).toStrictEqual({
      payout_id,
      payout_status: "processing",
      amount: "100.50",
      currency: "USD",
      short_reference: "P261121-AB12CD34",
      payout_reason: "salary",
      payout_reference: "November",
      beneficiary_id,
      payer_id,
      unique_request_id,
      payment_date: "2026-11-21T00:00:00+08:00",
      create_time: "2026-11-20T10:00:00+08:00",
      update_time: "2026-11-20T10:00:01+08:00",
    });
  });

  it("needs no more of an answer than what identifies the payout", async () => {
    const { result } = await exchange(
      "createPayout",
      requests.createPayout,
      success({
        id: payout_id,
        status: "waiting_for_something_new",
        amount: 100.5,
        currency: "USD",
        payer_id: null,
        reference: "",
        fee: { new: "object" },
      }),
    );
    expect(result).toStrictEqual({
      payout_id,
      payout_status: "waiting_for_something_new",
      amount: "100.5",
      currency: "USD",
    });
  });
});

const listed = {
  payout_id,
  reference_id: "P261121-AB12CD34",
  payment_date: "2026-11-21",
  payout_status: "trade_settled",
  payout_reason: "salary",
  payout_reference: "November",
  beneficiary_id,
  beneficiary_name: "Ada Lovelace",
  unique_request_id,
  amount: "100.50",
  fee_amount: "1.25",
  currency: "USD",
  fee_paid_by: "shared",
  create_time: "2026-11-20T10:00:00+08:00",
  update_time: "2026-11-20T10:00:01+08:00",
  complete_time: "0001-01-01T00:00:00Z",
};

describe("listPayouts", () => {
  it("sends page and filters in the query and reads the list shape", async () => {
    const { result, sent } = await exchange(
      "listPayouts",
      {
        page_num: 2,
        page_size: 50,
        date_type: "settle_time",
        scope: "clients_account",
        short_reference_id: "P261121-AB12CD34",
        status: "funds_arrived",
        start: 1_763_600_000_000,
        end: 1_763_686_400_000,
      },
      success({ total_item: 51, total_page: 2, item_list: [listed] }),
    );
    expect(sent).toMatchObject({ method: "GET", path: "/api/v1/payouts", body: "" });
    expect(sent.headers).not.toHaveProperty("content-type");
    expect(sent.query).toStrictEqual({
      page_num: "2",
      page_size: "50",
      date_type: "settle_time",
      scope: "clients_account",
      short_reference_id: "P261121-AB12CD34",
      status: "funds_arrived",
      start_time: "1763600000000",
      end_time: "1763686400000",
    });
    expect(result).toStrictEqual({
      total_item: 51,
      total_page: 2,
      unreadable: [],
      item_list: [
        {
          payout_id,
          payout_status: "trade_settled",
          amount: "100.50",
          currency: "USD",
          short_reference: "P261121-AB12CD34",
          payout_reason: "salary",
          payout_reference: "November",
          beneficiary_id,
          beneficiary_name: "Ada Lovelace",
          unique_request_id,
          fee_amount: "1.25",
          fee_paid_by: "shared",
          payment_date: "2026-11-21",
          create_time: "2026-11-20T10:00:00+08:00",
          update_time: "2026-11-20T10:00:01+08:00",
        },
      ],
    });
  });

  it.each([
    ["an empty list", { item_list: [] }],
    ["null", { item_list: null }],
    ["no list", {}],
  ])("reads %s as no items", async (_, items) => {
    const { result, sent } = await exchange(
      "listPayouts",
      requests.listPayouts,
      success({ total_item: 0, total_page: 0, ...items }),
    );
    expect(sent.query).toStrictEqual({ page_num: "1", page_size: "50" });
    expect(result).toStrictEqual({ total_item: 0, total_page: 0, item_list: [], unreadable: [] });
  });
});

describe("retrievePayout", () => {
  const retrieved = {
    payout_id,
    short_reference_id: "P261121-AB12CD34",
    payout_date: "2026-11-21",
    payout_status: "closed",
    payout_reason: "salary",
    payout_reference: "November",
    beneficiary_id,
    payer_id,
    unique_request_id,
    amount: "100.50",
    fee_amount: "1.25",
    currency: "USD",
    fee_paid_by: "shared",
    create_time: "2026-11-20T10:00:00+08:00",
    update_time: "2026-11-22T10:00:01+08:00",
    complete_time: "2026-11-22T10:00:00+08:00",
  };

  it("sends the id in the path and reads the retrieve shape", async () => {
    const { result, sent } = await exchange(
      "retrievePayout",
      { payout_id },
      success({ ...retrieved, unknown_extra: 1 }),
    );
    expect(sent).toMatchObject({
      method: "GET",
      path: `/api/v1/payouts/${payout_id}/retrieve`,
      query: {},
      body: "",
    });
    expect(result).toStrictEqual({
      payout_id,
      payout_status: "closed",
      amount: "100.50",
      currency: "USD",
      short_reference: "P261121-AB12CD34",
      payout_reason: "salary",
      payout_reference: "November",
      beneficiary_id,
      payer_id,
      unique_request_id,
      fee_amount: "1.25",
      fee_paid_by: "shared",
      payment_date: "2026-11-21",
      create_time: "2026-11-20T10:00:00+08:00",
      update_time: "2026-11-22T10:00:01+08:00",
      complete_time: "2026-11-22T10:00:00+08:00",
    });
  });

  it.each([
    ["the zero time", "0001-01-01T00:00:00Z"],
    ["the zero time with an offset", "0001-01-01T00:00:00+00:00"],
    ["an empty text", ""],
    ["null", null],
    ["nothing", undefined],
  ])("takes %s as a time that has not come", async (_, complete_time) => {
    const { result } = await exchange(
      "retrievePayout",
      { payout_id },
      success({ ...retrieved, complete_time, payout_date: complete_time }),
    );
    expect(result).not.toHaveProperty("complete_time");
    expect(result).not.toHaveProperty("payment_date");
    expect(result).toHaveProperty("update_time");
  });
});

it("gives one Payout, whichever of the three shapes it came in", async () => {
  const same = {
    amount: "100.50",
    currency: "USD",
    beneficiary_id,
    unique_request_id,
    create_time: "2026-11-20T10:00:00Z",
    update_time: "2026-11-20T10:00:01Z",
  };
  const created = await exchange(
    "createPayout",
    requests.createPayout,
    success({
      ...same,
      id: payout_id,
      status: "processing",
      reason: "salary",
      reference: "November",
      short_reference: "P261121-AB12CD34",
      payment_date: "2026-11-21",
    }),
  );
  const named = {
    ...same,
    payout_id,
    payout_status: "processing",
    payout_reason: "salary",
    payout_reference: "November",
    complete_time: "0001-01-01T00:00:00Z",
  };
  const list = await exchange(
    "listPayouts",
    requests.listPayouts,
    success({
      total_item: 1,
      total_page: 1,
      item_list: [{ ...named, reference_id: "P261121-AB12CD34", payment_date: "2026-11-21" }],
    }),
  );
  const retrieved = await exchange(
    "retrievePayout",
    { payout_id },
    success({ ...named, short_reference_id: "P261121-AB12CD34", payout_date: "2026-11-21" }),
  );
  const payout = {
    ...same,
    payout_id,
    payout_status: "processing",
    payout_reason: "salary",
    payout_reference: "November",
    short_reference: "P261121-AB12CD34",
    payment_date: "2026-11-21",
  };
  expect(created.result).toStrictEqual(payout);
  expect(list.result).toMatchObject({ item_list: [payout] });
  expect(retrieved.result).toStrictEqual(payout);
});
