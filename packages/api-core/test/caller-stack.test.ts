import { afterAll, expect, it } from "vitest";
import { createClient } from "../src/index.ts";

// Nobody listens there.
const client = createClient({
  baseUrl: "http://127.0.0.1:1",
  clientId: "c",
  apiKey: "k",
  maxAttempts: 1,
});
afterAll(() => client.close());

const firstPayout = async () => {
  for await (const payout of client.streams.listPayouts()) return payout;
  return undefined;
};

it.each([
  ["a call", () => client.retrieveBalance({ currency: "USD" })],
  ["an invalid request", () => client.retrieveBalance({ currency: "" })],
  ["calls at once", () => Promise.all([client.listPayers(), client.ping()])],
  ["a list", () => firstPayout()],
  ["wrong settings", () => createClient({ baseUrl: "", clientId: "c", apiKey: "k" }).ping()],
])("the error of %s shows where it was awaited", async (_, start) => {
  const codeOfTheCaller = async () => {
    await start();
  };
  const error: unknown = await codeOfTheCaller().catch((thrown: unknown) => thrown);
  expect(error).toHaveProperty("stack", expect.stringContaining("codeOfTheCaller"));
});
