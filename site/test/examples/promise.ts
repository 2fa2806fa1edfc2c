import { createClient, OutcomeUnknown } from "@durable-payments/client";

const { PAYMENTS_API_KEY = "", PAYMENTS_BASE_URL = "", PAYMENTS_CLIENT_ID = "" } = process.env;

const client = createClient({
  baseUrl: PAYMENTS_BASE_URL,
  clientId: PAYMENTS_CLIENT_ID,
  apiKey: PAYMENTS_API_KEY,
});
try {
  const balance = { currency: "GBP", name: "Suppliers in Britain" };
  await client.createBalance(balance, { signal: AbortSignal.timeout(60_000) });
  for await (const payout of client.streams.listPayouts()) {
    console.log(payout.payout_id, payout.amount, payout.currency);
  }
} catch (error) {
  if (error instanceof OutcomeUnknown)
    console.log("The balance may or may not be open. Call again: it opens only once.");
  else throw error;
} finally {
  await client.close();
}
