import {
  awaitPayout,
  awaitReturn,
  createBeneficiary,
  createPayout,
} from "durable-payments/workflows";

// The worker runs these as well.
export {
  checkWorker,
  notifier,
  onboardCardholder,
  payout,
  runBatch,
  tracker,
} from "durable-payments/workflows";

const supplier = {
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
} as const;

const payment = {
  currency: "USD",
  payout_reason: "Payment for goods",
  payout_reference: "Invoice 1",
  payment_date: "2026-12-01",
  is_payer: "Y",
} as const;

/** Pays our supplier an amount and returns the status of the payout: `completed`. */
export async function paySupplier(amount: string) {
  const { beneficiary_id } = await createBeneficiary(supplier);
  const created = await createPayout({ ...payment, beneficiary_id, amount });
  const { payout_status } = await awaitPayout(created, { within: "10 days" });
  return payout_status;
}

/** Pays our supplier, and returns by which status the money came back within 30 days: `kept` if it did not. */
export async function paySupplierAndWatch(amount: string) {
  const { beneficiary_id } = await createBeneficiary(supplier);
  const created = await createPayout({ ...payment, beneficiary_id, amount });
  await awaitPayout(created, { within: "10 days" });
  const returned = await awaitReturn(created, { within: "30 days" });
  return returned?.payout_status ?? "kept";
}
