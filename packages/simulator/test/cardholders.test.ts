import { afterEach, beforeEach, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../src/index.ts";
import { like } from "./support/like.ts";
import { type Client, signedIn } from "./support/raw-client.ts";
import { createCard, createCardholder } from "./support/steps.ts";

let simulator: Simulator;
let client: Client;
beforeEach(async () => {
  simulator = await startSimulator({ verifyAfter: Infinity });
  client = await signedIn(simulator);
});
afterEach(() => simulator.stop());

const list = async (query = "") =>
  (await client.get(`/api/v1/cardholders?page_num=1&page_size=50${query}`)).body.data;
const ids = async (query: string) =>
  (await list(query)).item_list.map((item) => item.card_holder_id);

it("begin pending, whatever status the request names, and are listed newest first", async () => {
  const first = await createCardholder(client, { card_holder_status: 1 });
  const second = await createCardholder(client);
  const { item_list, total_item, total_page } = await list();
  expect([total_item, total_page]).toEqual([2, 1]);
  expect(item_list.map((item) => item.card_holder_id)).toEqual([second, first]);
  expect(item_list[1]).toEqual({
    card_holder_id: first,
    card_holder_status: "PENDING",
    card_num: 0,
    first_name: "Grace",
    last_name: "Hopper",
    create_time: like(/Z$/),
    update_time: like(/Z$/),
  });
});

it("are found by name, status and the account of their card", async () => {
  const { card_id } = await createCard(simulator, client);
  const { cards } = await simulator.state();
  const card = cards.find((each) => each.card_id === card_id)!;
  const other = await createCardholder(client, { first_name: "Ada", last_name: "Lovelace" });
  expect(await ids("&name=lovel")).toEqual([other]);
  expect(await ids("&card_holder_status=1")).toEqual([card.card_holder_id]);
  expect(await ids("&card_holder_status=0")).toEqual([other]);
  expect(await ids(`&card_account_id=${card.balance_id}`)).toEqual([card.card_holder_id]);
  expect((await list("&card_holder_status=1")).item_list[0]!.card_num).toBe(1);
});

it("are removed once", async () => {
  const id = await createCardholder(client);
  const remove = (which: string) => client.post(`/api/v1/cardholders/${which}/remove`, {});
  expect((await remove(id)).body).toEqual({ code: 200, message: "Success" });
  expect((await list()).total_item).toBe(0);
  const again = await remove(id);
  expect([again.status, again.body]).toEqual([
    400,
    { code: 400, message: "Cardholder already removed" },
  ]);
  expect((await remove("none")).body.message).toBe("Cardholder not found");
});
