import type { Invoice } from "./workflows.ts";

/** An invoice that the simulator pays. If its reference begins with FAIL, the payout fails. */
export const exampleInvoice: Invoice = {
  beneficiary: {
    bank_country: "DE",
    account_currency: "USD",
    entity_type: "company",
    email: "accounts@example.com",
    nickname: "Example supplier",
    company_name: "Example Supplies GmbH",
    payment_method: "swift",
    bank_name: "Example Bank",
    bank_address: "Example Street 1, Berlin",
    account_holder: "Example Supplies GmbH",
    iban: "DE89370400440532013000",
    country_code: "DE",
    city: "Berlin",
    state: "Berlin",
    address: "Example Street 2",
    postal_code: "10115",
  },
  payout: {
    currency: "USD",
    amount: "250.00",
    payout_reason: "Payment for goods",
    payout_reference: "Invoice 1",
    payment_date: new Date().toISOString().slice(0, 10),
    is_payer: "Y",
  },
};
