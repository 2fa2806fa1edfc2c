import { createClient, isPaymentsError } from "@durable-payments/client";
import { setTimeout } from "node:timers/promises";

const { PAYMENTS_API_KEY = "", PAYMENTS_BASE_URL = "", PAYMENTS_CLIENT_ID = "" } = process.env;
const { BENEFICIARY_ID = "", LIST_LAG_SECONDS = "180" } = process.env;
const HOUR_MS = 3_600_000;

const client = createClient({
  baseUrl: PAYMENTS_BASE_URL,
  clientId: PAYMENTS_CLIENT_ID,
  apiKey: PAYMENTS_API_KEY,
  logger: console, // It warns if the list has a row that cannot be read.
});
const request = {
  currency: "USD",
  amount: "250.00",
  beneficiary_id: BENEFICIARY_ID,
  payout_reason: "Payment for goods",
  payout_reference: "Invoice 2026-002",
  payment_date: "2026-12-01",
  is_payer: "Y",
  unique_request_id: "invoice-2026-002", // Another one for each payment: it is how a payout is found.
} as const;

/** Reads all pages until the list must have the payout: returns its ids, and possible matches. */
const findPayout = async (firstSentAt: number) => {
  const listedAt = Date.now() + Number(LIST_LAG_SECONDS) * 1000;
  for (;;) {
    const mustBeListed = Date.now() >= listedAt;
    const found: string[] = [];
    const possible: string[] = [];
    try {
      for await (const payout of client.streams.listPayouts()) {
        const { beneficiary_id = request.beneficiary_id, currency = request.currency } = payout;
        // A day, and the hours by which a clock is set back: clocks and time zones differ.
        const isOlder = Date.parse(payout.create_time ?? "") < firstSentAt - 26 * HOUR_MS;
        const isLike = beneficiary_id === request.beneficiary_id && currency === request.currency;
        if (payout.unique_request_id === request.unique_request_id) found.push(payout.payout_id);
        else if (isLike && !isOlder) possible.push(payout.payout_id);
      }
      if (found.length > 0 || mustBeListed) return { found, possible };
    } catch (error) {
      if (!isPaymentsError(error)) throw error;
      console.log(error.message); // A list that was not read to its end proves nothing.
    }
    await setTimeout(10_000);
  }
};

// A program that may crash saves the request and this time before it calls createPayout.
const firstSentAt = Date.now();
try {
  const { payout_id } = await client.createPayout(request);
  console.log(`Paid: payout ${payout_id}`);
} catch (error) {
  if (!isPaymentsError(error)) throw error;
  console.log(error.message);
  if (error.carriedOut === "unknown") {
    const { found, possible } = await findPayout(firstSentAt);
    if (found.length === 1) console.log(`Paid: payout ${found[0]}`);
    else if (found.length > 1) console.log(`Paid more than once: ${found.join(", ")}`);
    else if (possible.length > 0) console.log(`A person compares: ${possible.join(", ")}`);
    else console.log("Not listed: a person asks the service before anything is sent again.");
  }
} finally {
  await client.close();
}
