import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Simulator, startSimulator, type Temperament } from "../src/index.ts";
import { type Client, send, signedIn } from "./support/raw-client.ts";
import { beneficiary } from "./support/bodies.ts";
import { createBeneficiary, createCardholder, createPayout } from "./support/steps.ts";

let simulator: Simulator;
let client: Client;
let beneficiary_id: string;
beforeEach(async () => {
  simulator = await startSimulator({ settleAfter: Infinity, verifyAfter: Infinity });
  client = await signedIn(simulator);
  beneficiary_id = await createBeneficiary(client);
});
afterEach(() => simulator.stop());

const set = (temperament: Temperament) => simulator.setTemperament(temperament);
/** The data as it came: nothing is said about its types. */
const dataOf = (answer: { readonly body: unknown }) =>
  (answer.body as { readonly data: Record<string, unknown> }).data;
const pay = async (changes = {}) => dataOf(await createPayout(client, beneficiary_id, changes));
const retrieve = async (id: unknown) =>
  dataOf(await client.get(`/api/v1/payouts/${String(id)}/retrieve`));
const listed = async (query = "") => {
  const { item_list } = dataOf(await client.get(`/api/v1/payouts?page_num=1&page_size=50${query}`));
  return item_list as ReadonlyArray<Record<string, unknown>>;
};

describe("the clock", () => {
  const AHEAD = 600_000;

  it.each([AHEAD, -AHEAD])("is off by %i in times, filters and the Date header", async (off) => {
    await set({ clockOffsetMs: off });
    const answer = await createPayout(client, beneficiary_id);
    const { create_time, id } = dataOf(answer);
    const truth = Date.parse((await simulator.state()).payouts[0]!.create_time);
    expect(Date.parse(String(create_time))).toBe(truth + off);
    expect((await retrieve(id))["create_time"]).toBe(create_time);
    expect(Math.abs(Date.parse(answer.headers.get("date")!) - truth - off)).toBeLessThan(5000);
    const range = (start: number, end: number) =>
      listed(`&date_type=create_time&start_time=${start}&end_time=${end}`);
    expect(await range(truth + off - 1000, truth + off + 1000)).toHaveLength(1);
    expect(await range(truth - 1000, truth + 1000)).toHaveLength(0);
  });

  it("is off in a token's expiry", async () => {
    await set({ clockOffsetMs: AHEAD, tokenMs: 1000 });
    const signedIn = await send(simulator, "POST", "/api/v1/auth/signin", {
      headers: { "x-client-id": simulator.clientId, "x-api-key": simulator.apiKey },
    });
    const expiry = Number(dataOf(signedIn)["expired_at"]);
    expect(Math.abs(expiry - Date.now() - AHEAD - 1000)).toBeLessThan(5000);
  });
});

describe("times", () => {
  const readTime = async (temperament: Temperament) => {
    await set(temperament);
    const { create_time } = (await simulator.state()).payouts[0]!;
    const [row] = await listed();
    return { truth: Date.parse(create_time), shown: row!["create_time"] };
  };
  beforeEach(() => pay());

  it.each([
    [480, "+08:00"],
    [-300, "-05:00"],
    [330, "+05:30"],
  ])("with the offset of a zone, %i minutes", async (zoneMinutes, offset) => {
    const { shown, truth } = await readTime({ times: "offset", zoneMinutes });
    expect(String(shown).endsWith(offset)).toBe(true);
    expect(Date.parse(String(shown))).toBe(Math.floor(truth / 1000) * 1000);
  });

  it("without offset, in the zone's time", async () => {
    const { shown, truth } = await readTime({ times: "local", zoneMinutes: 480 });
    const local = new Date(truth + 8 * 3_600_000).toISOString().slice(0, 19);
    expect(shown).toBe(local);
    expect((await readTime({ times: "local-blank", zoneMinutes: 480 })).shown).toBe(
      local.replace("T", " "),
    );
    expect((await readTime({ times: "date", zoneMinutes: 480 })).shown).toBe(local.slice(0, 10));
  });

  it("as JSON numbers since 1970", async () => {
    const { shown, truth } = await readTime({ times: "milliseconds" });
    expect(shown).toBe(truth);
    expect((await readTime({ times: "seconds" })).shown).toBe(Math.floor(truth / 1000));
  });

  it.each(["0000-12-31T19:03:58-04:56", "0", 0, "-", "", null])(
    "unset, written as %j",
    async (unsetTime) => {
      await set({ unsetTime, times: "date" });
      expect((await listed())[0]!["complete_time"]).toBe(unsetTime);
    },
  );

  it("unset, left out; set, shown", async () => {
    await set({ unsetTime: "missing" });
    const [row] = await listed();
    expect(row).not.toHaveProperty("complete_time");
    await simulator.setPayoutStatus(String(row!["payout_id"]), "completed");
    expect((await listed())[0]!["complete_time"]).toMatch(/^20\d\d-/);
  });
});

it.each([
  ["plain", "3500.00", "1234567.50", "100000000.00"],
  ["grouped", "3,500.00", "1,234,567.50", "100,000,000.00"],
  ["short", "3500", "1234567.5", "100000000"],
  ["one-digit", "3500.0", "1234567.5", "100000000.0"],
  ["four-digits", "3500.0000", "1234567.5000", "100000000.0000"],
  ["number", 3500, 1234567.5, 100000000],
] as const)("amounts, %s", async (amounts, small, large, balance) => {
  const before = (await simulator.state()).balances.find(({ currency }) => currency === "USD")!;
  await simulator.fund("USD", String(101_238_067.5 - Number(before.available_balance)));
  await pay({ amount: "3500" });
  await pay({ amount: "1234567.5" });
  await set({ amounts });
  expect((await listed()).map(({ amount }) => amount)).toEqual([large, small]);
  const shown = dataOf(await client.get("/api/v1/balances/retrieve/USD"));
  expect(shown["available_balance"]).toBe(balance);
  const { payouts } = await simulator.state();
  expect(payouts.map(({ amount }) => amount)).toEqual(["3500.00", "1234567.50"]);
});

describe("the key of a payout", () => {
  const keys = async (payoutKeys: NonNullable<Temperament["payoutKeys"]>) => {
    await set({ payoutKeys });
    const created = await pay({ unique_request_id: "ours" });
    const [row] = await listed();
    const { unique_request_id } = await retrieve(created["id"]);
    expect((await simulator.state()).payouts.at(-1)!.unique_request_id).toBe("ours");
    return [created["unique_request_id"], row!["unique_request_id"], unique_request_id];
  };

  it("echoed, dropped, or replaced by one that stays the payout's", async () => {
    expect(await keys("echoed")).toEqual(["ours", "ours", "ours"]);
    expect(await keys("dropped")).toEqual(["", "", ""]);
    const replaced = await keys("replaced");
    expect(new Set(replaced).size).toBe(1);
    expect(replaced[0]).toMatch(/^own-/);
    expect(await keys("replaced")).not.toEqual(replaced);
  });
});

describe("answers of writes", () => {
  it("ids alone", async () => {
    await set({ writeAnswers: "ids" });
    expect(await pay()).toEqual({ id: (await simulator.state()).payouts[0]!.payout_id });
    const id = await createBeneficiary(client);
    expect(id).toBe((await simulator.state()).beneficiaries.at(-1)!.beneficiary_id);
    expect(await createCardholder(client)).toBe(
      (await simulator.state()).cardholders[0]!.card_holder_id,
    );
  });

  it("nulls and odd types beside the id", async () => {
    await set({ writeAnswers: "nulls" });
    const nulls = await pay();
    expect(nulls).toMatchObject({ status: null, amount: null, currency: null });
    await set({ writeAnswers: "odd" });
    const { id, ...odd } = await pay();
    expect((await retrieve(id))["payout_id"]).toBe(id);
    expect(Object.values(odd).every((value) => typeof value !== "string")).toBe(true);
  });
});

it("statuses that the document does not name", async () => {
  await set({ statuses: { processing: "in_review", completed: "paid_out" } });
  const { id, status } = await pay();
  expect(status).toBe("in_review");
  await simulator.setPayoutStatus(String(id), "completed");
  expect((await retrieve(id))["payout_status"]).toBe("paid_out");
  expect((await simulator.state()).payouts[0]!.payout_status).toBe("completed");
});

it("a completed payout is reversed later, once, its money back, by the ledger, too", async () => {
  const quick = await startSimulator({
    settleAfter: "50 millis",
    temperament: { reversals: { share: 1, afterMs: 50 } },
  });
  const there = await signedIn(quick);
  const id = await createBeneficiary(there);
  await createPayout(there, id);
  await expect
    .poll(async () => (await quick.state()).payouts.map(({ payout_status }) => payout_status))
    .toEqual(["reversed"]);
  const { balances, payouts } = await quick.state();
  expect(payouts[0]).toMatchObject({ returned: true });
  expect(Date.parse(payouts[0]!.update_time)).toBe(Date.parse(payouts[0]!.complete_time!) + 50);
  expect(balances.find(({ currency }) => currency === "USD")?.available_balance).toBe("100000.00");
  await quick.stop();
});

describe("refusals", () => {
  const refused = async (refusals: NonNullable<Temperament["refusals"]>) => {
    await set({ refusals });
    return createPayout(client, "none");
  };

  it("as text without envelope", async () => {
    for (const [form, status] of [
      ["plain-400", 400],
      ["plain-422", 422],
    ] as const) {
      const answer = await refused(form);
      expect([answer.status, answer.headers.get("content-type"), answer.text]).toEqual([
        status,
        "text/plain",
        "Beneficiary not found",
      ]);
    }
  });

  it("as envelope under HTTP 200", async () => {
    const { body, status } = await refused("in-200");
    expect([status, body]).toEqual([200, { code: 400, message: "Beneficiary not found" }]);
    expect((await simulator.state()).payouts).toEqual([]);
  });
});

it("another message than Success", async () => {
  await set({ successMessage: "OK" });
  const { body } = await client.get("/api/v1/balances/retrieve/USD");
  expect([body.code, body.message]).toEqual([200, "OK"]);
});

it("has exactly the documented fields in each shape of payouts and beneficiaries", async () => {
  const names = (fields: object) => Object.keys(fields).sort().join(" ");
  const created = await pay({ unique_request_id: "ours" });
  expect(names(created)).toBe(
    "amount beneficiary_id create_time currency id payer_id payment_date reason reference short_reference status unique_request_id update_time",
  );
  expect(names((await listed())[0]!)).toBe(
    "amount beneficiary_id beneficiary_name complete_time create_time currency fee_amount fee_paid_by payment_date payout_id payout_reason payout_reference payout_status reference_id unique_request_id update_time",
  );
  expect(names(await retrieve(created["id"]))).toBe(
    "amount beneficiary_id complete_time create_time currency fee_amount fee_paid_by payer_id payout_date payout_id payout_reason payout_reference payout_status short_reference_id unique_request_id update_time",
  );
  const made = dataOf(await client.post("/api/v1/beneficiaries/create", beneficiary));
  const read = dataOf(await client.get(`/api/v1/beneficiaries/${beneficiary_id}`));
  const both = Object.keys(made).filter((name) => name in read);
  expect(
    Object.keys(made)
      .filter((name) => !both.includes(name))
      .sort(),
  ).toEqual(["account_number", "beneficiary_status"]);
  expect(Object.keys(read).filter((name) => !both.includes(name))).toEqual(["beneficiary_summary"]);
  expect(both).toHaveLength(12);
});
