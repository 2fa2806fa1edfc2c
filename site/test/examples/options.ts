import { createClient } from "@durable-payments/client";

const { PAYMENTS_API_KEY = "", PAYMENTS_BASE_URL = "", PAYMENTS_CLIENT_ID = "" } = process.env;

const client = createClient({
  baseUrl: PAYMENTS_BASE_URL,
  clientId: PAYMENTS_CLIENT_ID,
  apiKey: PAYMENTS_API_KEY,
  logger: console,
  onResponse: ({ attempt, operation, problem, status }) => {
    console.log(`${operation}, send ${attempt}: ${status ?? problem}`);
  },
});
const { data, headers, status } = await client.withResponse.retrieveBalance(
  { currency: "USD" },
  { timeoutMs: 10_000, maxAttempts: 2, headers: { traceparent: "00-0af7-b7ad-01" } },
);
console.log(status, headers["content-type"], data.available_balance);
await client.close();
