import { createClient, isPaymentsError } from "@durable-payments/client";

const { PAYMENTS_API_KEY = "", PAYMENTS_BASE_URL = "", PAYMENTS_CLIENT_ID = "" } = process.env;

const client = createClient({
  baseUrl: PAYMENTS_BASE_URL,
  clientId: PAYMENTS_CLIENT_ID,
  apiKey: PAYMENTS_API_KEY,
});
const payout_reference = "Invoice 2026-001";
try {
  await client.createBalance({ currency: "EUR", name: "Suppliers" });
  const { beneficiary_id } = await client.createBeneficiary({
    bank_country: "DE",
    account_currency: "EUR",
    entity_type: "company",
    email: "accounts@example.com",
    company_name: "Example Supplies GmbH",
    nickname: "Example supplier",
    payment_method: "local",
    clearing_system: "SEPA",
    bank_name: "Example Bank",
    bank_address: "Example Street 1, Berlin",
    account_holder: "Example Supplies GmbH",
    iban: "DE89370400440532013000",
    country_code: "DE",
    city: "Berlin",
    state: "Berlin",
    address: "Example Street 2",
    postal_code: "10115",
  });
  const { payout_id, payout_status } = await client.createPayout({
    currency: "EUR",
    amount: "250.00",
    beneficiary_id,
    payout_reason: "Payment for goods",
    payout_reference,
    payment_date: "2026-12-01",
    is_payer: "Y",
    unique_request_id: "invoice-2026-001",
  });
  console.log(`${payout_reference}: payout ${payout_id} is ${payout_status}`);
} catch (error) {
  if (!isPaymentsError(error)) throw error;
  console.log(error.message);
  if (error.operation !== "createPayout" || error.carriedOut === "no")
    console.log("Nothing was paid: you may run this again.");
  // Look for it with listPayouts first.
  else console.log(`${payout_reference} may be paid. Do not send it again.`);
} finally {
  await client.close();
}
