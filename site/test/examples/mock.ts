import { createClient } from "@durable-payments/client";
import { MockAgent } from "undici";

const dispatcher = new MockAgent();
dispatcher.disableNetConnect();
const service = dispatcher.get("https://payments.example");
service
  .intercept({ method: "POST", path: "/api/v1/auth/signin" })
  .reply(200, { code: 200, message: "Success", data: { auth_token: "t", expires_at: 4e9 } });
const balance = { balance_id: "balance-1", currency: "USD", available_balance: "12.50" };
service
  .intercept({ path: "/api/v1/balances/retrieve/USD" })
  .reply(200, { code: 200, message: "Success", data: balance });

const client = createClient({
  baseUrl: "https://payments.example",
  clientId: "client-7",
  apiKey: "key",
  dispatcher,
});
console.log((await client.retrieveBalance({ currency: "USD" })).available_balance);
await client.close();
