import { afterEach, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../src/index.ts";
import { beneficiary, cardholder } from "./support/bodies.ts";
import { signedIn } from "./support/raw-client.ts";
import { createBeneficiary, createPayout } from "./support/steps.ts";

let simulator: Simulator;
afterEach(() => simulator.stop());

const startWith = async (assumptions: unknown) => {
  simulator = await startSimulator({ assumptions, settleAfter: Infinity });
  return signedIn(simulator);
};

it.each(["PUT", "PATCH"])("updates a beneficiary by %s, and by nothing else", async (method) => {
  const client = await startWith({ updateBeneficiaryMethod: method });
  const path = `/api/v1/beneficiaries/${await createBeneficiary(client)}/update`;
  const { routing_code_type1: _t, routing_code_value1: _v, ...update } = beneficiary;
  const posted = await client.post(path, { ...update, city: "Boston" });
  expect([posted.status, posted.body]).toEqual([
    405,
    { code: 400, message: `updateBeneficiary takes ${method}` },
  ]);
  const sent = await client.send(method, path, { ...update, city: "Boston" });
  expect([sent.status, sent.body]).toEqual([200, { code: 200, message: "Success" }]);
  const { beneficiaries, requests } = await simulator.state();
  expect(beneficiaries[0]!.details["city"]).toBe("Boston");
  expect(requests["updateBeneficiary"]).toBe(1);
  const wrong = await client.send(method, path, {});
  expect(wrong.body.message).toMatch(/^bank_country: is required; /);
});

it("reads filters by the names and in the unit that are assumed", async () => {
  const client = await startWith({
    listPayoutsParameters: { start: "from", end: "to", status: "payout_status" },
    listTransactionsParameters: { page_num: "page", page_size: "size" },
    rangeBoundUnit: "seconds",
  });
  const { id } = (await createPayout(client, await createBeneficiary(client))).body.data;
  const found = async (query: string) =>
    (await client.get(`/api/v1/payouts?page_num=1&page_size=50&${query}`)).body.data.total_item;
  const seconds = Math.floor(Date.now() / 1000);
  expect(await found(`from=${seconds - 60}&to=${seconds + 60}`)).toBe(1);
  expect(await found(`from=${seconds + 60}`)).toBe(0);
  await simulator.setPayoutStatus(id, "closed");
  expect(await found("payout_status=closed")).toBe(1);
  expect(await found("payout_status=awaiting_funds")).toBe(0);
  const transactions = await client.get("/api/v1/transactions?page=1&size=1");
  expect(transactions.body.data).toMatchObject({ total_item: 3, total_page: 3 });
});

it("reads the delivery address under the name that is assumed", async () => {
  const client = await startWith({ deliveryAddressField: "shipping" });
  await client.post("/api/v1/cardholders/create", { ...cardholder, shipping: "5 Navy Yard" });
  expect((await simulator.state()).cardholders[0]!.delivery_address).toBe("5 Navy Yard");
});

it("knows ends of payouts by the statuses that are assumed", async () => {
  const client = await startWith({
    payoutCompletedStatuses: ["closed"],
    payoutFailedStatuses: ["bounced"],
  });
  const id = await createBeneficiary(client);
  const [first, second] = [await createPayout(client, id), await createPayout(client, id)];
  await simulator.setPayoutStatus(first.body.data.id, "closed");
  await simulator.setPayoutStatus(second.body.data.id, "Bounced");
  const { balances, payouts } = await simulator.state();
  expect(payouts[0]!.complete_time).toBeDefined();
  expect(payouts[1]!.returned).toBe(true);
  expect(balances[0]!.available_balance).toBe("99987.50");
});

it("ends payouts by themselves in the first of those statuses", async () => {
  simulator = await startSimulator({
    assumptions: { payoutCompletedStatuses: ["closed"], payoutFailedStatuses: ["bounced"] },
    settleAfter: 0,
  });
  const client = await signedIn(simulator);
  const id = await createBeneficiary(client);
  await createPayout(client, id);
  await createPayout(client, id, { payout_reference: "FAIL" });
  const { payouts } = await simulator.state();
  expect(payouts.map(({ payout_status, returned }) => [payout_status, returned])).toEqual([
    ["closed", false],
    ["bounced", true],
  ]);
});

it("does not start with an assumption that it does not know", async () => {
  simulator = await startSimulator();
  await expect(startSimulator({ assumptions: { nonsense: 1 } })).rejects.toThrow(
    "The assumptions are wrong: nonsense: ",
  );
});
