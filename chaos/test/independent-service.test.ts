import { createClient } from "@durable-payments/client";
import { beneficiary, cardholder, payout } from "@durable-payments/tools/test-data/inputs";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type IndependentServiceOptions,
  startIndependentService,
} from "../src/service/independent-service.ts";

const start = async (options: IndependentServiceOptions = {}) => {
  const service = await startIndependentService(options);
  const client = createClient({
    baseUrl: service.url,
    clientId: service.clientId,
    apiKey: service.apiKey,
    assumptions: {
      listPayoutsParameters: { start: "from_time", end: "to_time" },
      rangeBoundUnit: "seconds",
    },
  });
  onTestFinished(async () => {
    await client.close();
    await service.stop();
  });
  const { beneficiary_id } = await client.createBeneficiary(beneficiary);
  const pay = () => client.createPayout({ ...payout, beneficiary_id });
  return { service, client, pay, beneficiary_id };
};

describe("the client reads a service that was written without it", () => {
  it("beneficiaries, payouts and balances", async () => {
    const { beneficiary_id, client, pay, service } = await start({ settleAfterMs: 0 });
    const read = await client.retrieveBeneficiary({ beneficiary_id });
    expect(read.beneficiary_bank_details).toMatchObject({ iban: beneficiary.iban });
    const made = await pay();
    const [truth] = service.ledger.payouts;
    expect(made).toMatchObject({ payout_id: String(truth!.id), amount: "250.0000" });
    const { payout_id } = made;
    const ended = await client.retrievePayout({ payout_id });
    expect(ended).toMatchObject({ payout_id, amount: "250.0000", currency: "EUR" });
    expect(Date.parse(ended.complete_time!)).toBe(Math.floor(truth!.at / 1000) * 1000);
    await pay();
    const listed = await client.listPayouts({ page_num: 1, page_size: 50 });
    expect(listed.item_list.map((each) => each.payout_id)).toEqual(
      service.ledger.payouts.map(({ id }) => String(id)),
    );
    const balance = await client.retrieveBalance({ currency: "EUR" });
    expect(balance.available_balance).toBe("99500.0000");
  });

  it("cardholders and cards, a repeated key of which makes nothing", async () => {
    const { client, service } = await start({ verifyAfterMs: 0 });
    const { card_holder_id } = await client.createCardholder(cardholder);
    const { item_list } = await client.listCardholders({ page_num: 1, page_size: 50 });
    expect(item_list).toMatchObject([{ card_holder_id, card_holder_status: "SUCCESS" }]);
    const { balance_id } = await client.retrieveBalance({ currency: "USD" });
    const card = {
      card_holder_id,
      balance_id,
      product_code: "PREPAID",
      card_limit: "100.5",
      unique_request_id: "card-1",
    };
    const made = await client.createCard(card);
    expect(made.card_id).toBe(String(service.ledger.cards[0]!.id));
    await expect(client.createCard(card)).rejects.toThrow();
    await client.updateCard({ card_id: made.card_id, card_name: "Travel" });
    expect(service.ledger.cards).toHaveLength(1);
  });

  it("refusals under HTTP 200", async () => {
    const { client, service } = await start();
    const refused = client.createPayout({ ...payout, beneficiary_id: "none" });
    await expect(refused).rejects.toMatchObject({ _tag: "RequestRefused", carriedOut: "no" });
    expect(service.ledger.payouts).toEqual([]);
  });
});

const PAYOUT = "POST payouts/create";

describe("its switches", () => {
  it.each([
    ["after", 1],
    ["before", 0],
  ] as const)("an answer is lost %s it was carried out: payouts made: %i", async (how, made) => {
    let left = 1;
    const { pay, service } = await start({
      lose: (write) => (write === PAYOUT && left-- > 0 ? how : undefined),
    });
    await expect(pay()).rejects.toMatchObject({ carriedOut: "unknown" });
    expect(service.ledger.payouts).toHaveLength(made);
    await pay();
    expect(service.ledger.payouts).toHaveLength(made + 1);
  });

  it("lists that lag, show days alone, in capitals, by another clock", async () => {
    const lagging = await start({ listLagMs: 60_000 });
    await lagging.pay();
    const empty = await lagging.client.listPayouts({ page_num: 1, page_size: 50 });
    expect([empty.total_item, empty.item_list]).toEqual([0, []]);

    const { client, pay, service } = await start({
      listTimes: "day",
      listTexts: "capitals",
      clockOffsetMs: -600_000,
    });
    await pay();
    const response = await fetch(`${service.url}/api/v1/auth/signin`, {
      method: "POST",
      headers: { "x-client-id": service.clientId, "x-api-key": service.apiKey },
    });
    const { data } = (await response.json()) as { data: { auth_token: string } };
    const list = await fetch(`${service.url}/api/v1/payouts?page_num=1&page_size=1`, {
      headers: { "x-client-id": service.clientId, "x-auth-token": `Bearer ${data.auth_token}` },
    });
    const [row] = ((await list.json()) as { data: { item_list: ReadonlyArray<unknown> } }).data
      .item_list;
    const { at, id } = service.ledger.payouts[0]!;
    const local = new Date(at - 600_000 + 8 * 3_600_000).toISOString();
    expect(row).toMatchObject({
      payout_reason: "PAYMENT FOR GOODS",
      create_time: local.slice(0, 10),
    });
    const { create_time } = await client.retrievePayout({ payout_id: String(id) });
    expect(create_time).toBe(`${local.slice(0, 19)}+08:00`);
  });

  it.each([
    ["honoured", 0, 1, 0],
    ["ignored", 1, 1, 1],
    ["late", 0, 0, 0],
    ["far", 0, 0, 0],
    ["settled", 0, 0, 0],
    ["short", 0, 1, 0],
  ] as const)("lists whose window is %s", async (windows, before, around, after) => {
    const { client, pay, service } = await start({ windows, settleAfterMs: 60_000 });
    await pay();
    const { at } = service.ledger.payouts[0]!;
    const counts = [at - 90_000, at - 5_000, at + 5_000].map(async (start) => {
      const window = {
        date_type: "create_time",
        start,
        ...(start < at - 60_000 && { end: at - 60_000 }),
      } as const;
      const { total_item } = await client.listPayouts({ page_num: 1, page_size: 50, ...window });
      return total_item;
    });
    expect(await Promise.all(counts)).toEqual([before, around, after]);
  });

  it("responses with its own Date, a proxy's or none, and a rejection until a time of its own clock", async () => {
    const hour = 3_600_000;
    for (const [date, ahead] of [
      ["own", "1"],
      ["proxy", "0"],
      ["none", undefined],
    ] as const) {
      const { service } = await start({
        clockOffsetMs: hour,
        date,
        isBusy: (write) => write === PAYOUT,
      });
      const headers = { "x-client-id": service.clientId, "x-api-key": service.apiKey };
      const url = `${service.url}/api/v1`;
      const signedIn = await fetch(`${url}/auth/signin`, { method: "POST", headers });
      const seen = signedIn.headers.get("date");
      const hours = seen === null ? undefined : (Date.parse(seen) - Date.now()) / hour;
      expect(hours?.toFixed().replace("-0", "0")).toBe(ahead);
      const { data } = (await signedIn.json()) as { data: { auth_token: string } };
      const busy = await fetch(`${url}/payouts/create`, {
        method: "POST",
        headers: { ...headers, "x-auth-token": `Bearer ${data.auth_token}` },
      });
      expect(busy.status).toBe(429);
      const until = Date.parse(busy.headers.get("retry-after")!);
      expect(Math.abs(until - Date.now() - hour)).toBeLessThan(60_000);
    }
  });

  it("keys in the list of payouts, and no time of change", async () => {
    const options = { showsKeys: true, updates: false, settleAfterMs: 0 };
    const { beneficiary_id, client } = await start(options);
    await client.createPayout({ ...payout, beneficiary_id, unique_request_id: "key-7" });
    const { item_list } = await client.listPayouts({ page_num: 1, page_size: 50 });
    const [row] = item_list;
    expect(row?.unique_request_id).toBe("key-7");
    expect(row?.update_time).toBe(row?.create_time);
  });
});
