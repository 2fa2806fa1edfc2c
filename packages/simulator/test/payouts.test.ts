import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type Simulator, startSimulator } from "../src/index.ts";
import { beneficiary } from "./support/bodies.ts";
import { anId, like } from "./support/like.ts";
import { type Client, signedIn } from "./support/raw-client.ts";
import { balance, createBeneficiary, createPayout } from "./support/steps.ts";

const ZERO_TIME = "0001-01-01T00:00:00Z";

let simulator: Simulator;
let client: Client;
let beneficiary_id: string;
beforeEach(async () => {
  simulator = await startSimulator({
    balances: { USD: "100.00", EUR: "50.00", JPY: "5000" },
    settleAfter: Infinity,
  });
  client = await signedIn(simulator);
  beneficiary_id = await createBeneficiary(client);
});
afterEach(() => simulator.stop());

const create = (changes: Record<string, unknown> = {}) =>
  createPayout(client, beneficiary_id, changes);
const retrieve = async (id: string) =>
  (await client.get(`/api/v1/payouts/${id}/retrieve`)).body.data;
const list = async (query = "") =>
  (await client.get(`/api/v1/payouts?page_num=1&page_size=50${query}`)).body.data;

describe("create", () => {
  it("takes the money and answers a payout that is processing", async () => {
    const { body, status } = await create({ unique_request_id: "key-1" });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id: anId,
      amount: "12.50",
      currency: "USD",
      beneficiary_id,
      payer_id: anId,
      payment_date: "2026-05-31T00:00:00Z",
      reason: "salary",
      reference: "May",
      short_reference: like(/^P\d{6}-[0-9A-Z]{8}$/),
      status: "processing",
      unique_request_id: "key-1",
      create_time: like(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    expect(await balance(client)).toBe("87.50");
  });

  it("pays twice when it is sent twice, by the same key too", async () => {
    await create({ unique_request_id: "key-1" });
    await create({ unique_request_id: "key-1" });
    expect((await list()).total_item).toBe(2);
    expect(await balance(client)).toBe("75.00");
  });

  it("refuses more than the balance holds, to the cent, and creates nothing then", async () => {
    const { body, status } = await create({ amount: "100.01" });
    expect([status, body]).toEqual([400, { code: 400, message: "Insufficient balance" }]);
    expect((await list()).total_item).toBe(0);
    expect(await balance(client)).toBe("100.00");
    expect((await create({ amount: "100.00" })).status).toBe(200);
    expect(await balance(client)).toBe("0.00");
  });

  it("pays a supposed beneficiary in the currency of the first request that pays it", async () => {
    // As a preview does: the answer to createBeneficiary names no currency.
    await simulator.suppose({ beneficiary_id: "seen" });
    await simulator.suppose({ beneficiary_id: "seen", currency: "EUR", amount: "12.50" });
    expect((await create({ beneficiary_id: "seen", currency: "EUR" })).status).toBe(200);
    expect((await create({ beneficiary_id: "seen", currency: "USD" })).status).toBe(400);
  });

  it.each([
    [{ beneficiary_id: "none" }, "Beneficiary not found"],
    [{ currency: "EUR" }, "Payer and beneficiary currency must be the same"],
    [{ amount: "1.001" }, "amount: USD has at most 2 digits after the point"],
    [{ amount: 5 }, /^amount: /],
    [{ payer_id: "none" }, "Payer not found"],
  ])("refuses %j and moves nothing", async (changes, message) => {
    const { body, status } = await create(changes);
    expect([status, body.code]).toEqual([400, 400]);
    expect(body.message).toMatch(message);
    const { payers, payouts, transactions } = await simulator.state();
    expect([payouts.length, payers.length, transactions.length]).toEqual([0, 1, 3]);
  });

  it("counts in the digits of the currency", async () => {
    const { body } = await client.post("/api/v1/beneficiaries/create", {
      ...beneficiary,
      account_currency: "JPY",
    });
    const inYen = { currency: "JPY", beneficiary_id: body.data.beneficiary_id };
    expect((await create({ ...inYen, amount: "1200" })).body.data.amount).toBe("1200");
    expect(await balance(client, "JPY")).toBe("3800");
    expect((await create({ ...inYen, amount: "1200.5" })).body.message).toBe(
      "amount: JPY has at most 0 digits after the point",
    );
  });

  it("writes down the payer that it describes", async () => {
    const described = {
      entity_type: "individual",
      first_name: "Alan",
      last_name: "Turing",
      birth_date: "1912-06-23",
      identification_type: "passport",
      identification_value: "X1",
    };
    const { payer_id } = (await create(described)).body.data;
    const { text } = await client.get("/api/v1/payers");
    const payers = (JSON.parse(text) as { data: ReadonlyArray<unknown> }).data;
    expect(payers).toHaveLength(2);
    expect(payers[1]).toMatchObject({
      payer_id,
      first_name: "Alan",
      date_of_birth: "1912-06-23",
      identification_type: "passport",
    });
    expect((await create({ payer_id })).body.data.payer_id).toBe(payer_id);
  });
});

describe("retrieve and list", () => {
  it("retrieve in one shape, list in another", async () => {
    const { id, short_reference } = (await create({ unique_request_id: "key-1" })).body.data;
    const retrieved = await retrieve(id);
    expect(retrieved).toMatchObject({
      payout_id: id,
      short_reference_id: short_reference,
      payout_date: "2026-05-31",
      payout_status: "processing",
      payout_reason: "salary",
      payout_reference: "May",
      unique_request_id: "key-1",
      amount: "12.50",
      fee_amount: "0.00",
      fee_paid_by: "shared",
      complete_time: ZERO_TIME,
    });
    expect((await list()).item_list[0]).toMatchObject({
      payout_id: id,
      reference_id: short_reference,
      payment_date: "2026-05-31",
      beneficiary_name: "Ada Lovelace",
      unique_request_id: "key-1",
      complete_time: ZERO_TIME,
    });
  });

  it("list the newest first, page by page", async () => {
    const ids: Array<string> = [];
    for (const amount of ["1", "2", "3"]) ids.push((await create({ amount })).body.data.id);
    const first = await client.get("/api/v1/payouts?page_num=1&page_size=2");
    expect(first.body.data).toMatchObject({ total_item: 3, total_page: 2 });
    const second = await client.get("/api/v1/payouts?page_num=2&page_size=2");
    const listed = [...first.body.data.item_list, ...second.body.data.item_list];
    expect(listed.map(({ payout_id }) => payout_id)).toEqual(ids.reverse());
  });

  it("list by short reference, status, scope and time", async () => {
    const { id, short_reference } = (await create()).body.data;
    const other = (await create()).body.data.id;
    const found = async (query: string) =>
      (await list(query)).item_list.map(({ payout_id }) => payout_id);
    expect(await found(`&short_reference_id=${short_reference}`)).toEqual([id]);
    await simulator.setPayoutStatus(id, "closed");
    expect(await found("&status=closed")).toEqual([id]);
    expect(await found("&scope=house_account")).toEqual([other, id]);
    expect(await found("&scope=clients_account")).toEqual([]);
    expect(await found(`&date_type=create_time&start_time=0&end_time=1`)).toEqual([]);
    expect(await found(`&date_type=create_time&start_time=1`)).toEqual([other, id]);
    expect(await found("&date_type=settle_time&start_time=1")).toEqual([]);
    await simulator.setPayoutStatus(other, "completed");
    expect(await found("&date_type=settle_time&start_time=1")).toEqual([other]);
  });
});

describe("a payout's end", () => {
  it("completes it and its transaction", async () => {
    const { id } = (await create()).body.data;
    await simulator.setPayoutStatus(id, "completed");
    const payout = await retrieve(id);
    expect(payout.payout_status).toBe("completed");
    expect(Date.parse(payout.complete_time)).toBeGreaterThan(Date.now() - 10_000);
    const [transaction] = (await simulator.state()).transactions.slice(-1);
    expect(transaction).toMatchObject({ transaction_status: "completed", reference_id: id });
    expect(await balance(client)).toBe("87.50");
  });

  it("comes back after it completed, at its time, if it is drawn or its reference says so", async () => {
    const status = async (id: string) => (await retrieve(id)).payout_status;
    const pay = async (changes: Record<string, unknown>) => (await create(changes)).body.data.id;
    const returned = await pay({ payout_reference: "RETURN 1" });
    const other = await pay({});
    // It is due at once, and the next request is later.
    await simulator.setPayoutStatus(returned, "completed");
    await simulator.setPayoutStatus(other, "completed");
    expect([await status(returned), await status(other)]).toEqual(["reversed", "completed"]);
    expect(await balance(client)).toBe("87.50");
    const drawn = await pay({ amount: "1.00" });
    await simulator.setTemperament({ returns: { share: 1, afterMs: 0, status: "returned" } });
    await simulator.setPayoutStatus(drawn, "completed");
    expect([await status(drawn), await status(other)]).toEqual(["returned", "completed"]);
    const late = await pay({ amount: "2.00" });
    await simulator.setTemperament({ returns: { share: 1, afterMs: 3_600_000 } });
    await simulator.setPayoutStatus(late, "completed");
    expect(await status(late)).toBe("completed");
  });

  it("returns the money of one that fails, once, even after it completed", async () => {
    const { id } = (await create()).body.data;
    await simulator.setPayoutStatus(id, "completed");
    await simulator.setPayoutStatus(id, "returned");
    await simulator.setPayoutStatus(id, "failed");
    expect(await retrieve(id)).toMatchObject({
      payout_status: "failed",
      complete_time: ZERO_TIME,
    });
    expect(await balance(client)).toBe("100.00");
    await expect(simulator.setPayoutStatus(id, "completed")).rejects.toThrow(
      "The money of this payout was returned",
    );
  });
});

describe("payouts from before", () => {
  const until = Date.parse("2026-11-20T00:00:00Z");
  const backlog = { payouts: 10_000_000, everyMs: 3_000, until };
  const pageOf = async (query: string, page_num = 1) => {
    const old = await startSimulator({ backlog, settleAfter: Infinity });
    const of = await signedIn(old);
    onTestFinished(() => old.stop());
    await createPayout(of, await createBeneficiary(of));
    const path = `/api/v1/payouts?page_num=${page_num}&page_size=50&${query}`;
    return { old, of, ...(await of.get(path)).body.data };
  };

  it("are listed after the newer ones, whatever their number", async () => {
    const { item_list, of, old, total_item, total_page } = await pageOf("");
    expect([total_item, total_page]).toEqual([10_000_001, 200_001]);
    expect(item_list).toHaveLength(50);
    expect(item_list[0]?.payout_status).toBe("processing");
    expect(item_list[1]).toMatchObject({
      create_time: "2026-11-20T00:00:00.000Z",
      complete_time: "2026-11-20T01:00:00.000Z",
    });
    const payout_id = String(item_list[49]?.payout_id);
    expect((await of.get(`/api/v1/payouts/${payout_id}/retrieve`)).body.data).toMatchObject({
      payout_id,
      create_time: "2026-11-19T23:57:36.000Z",
    });
    expect((await old.state()).payouts).toHaveLength(1);
  });

  it("end with the oldest", async () => {
    const { item_list } = await pageOf("", 200_001);
    expect(item_list).toHaveLength(1);
    expect(Date.parse(String(item_list[0]?.create_time))).toBe(until - 9_999_999 * 3_000);
  });

  it.each([
    ["create_time", until - 6_000, until - 3_000, 2],
    ["create_time", until - 5_999, until + 1, 2],
    ["settle_time", until, until + 3_600_000, 1_201],
    ["create_time", until + 1, until + 2, 0],
  ])("are in a window of %s from %i to %i", async (date_type, start, end, count) => {
    const window = `date_type=${date_type}&start_time=${start}&end_time=${end}`;
    expect((await pageOf(window)).total_item).toBe(count);
  });
});
