import { awaitPayout, createBeneficiary, createPayout } from "@durable-payments/workflows";

export {
  checkWorker,
  notifier,
  onboardCardholder,
  payout,
  payoutBatch,
  tracker,
} from "@durable-payments/workflows/definitions";

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
  amount: "12.50",
  currency: "USD",
  payout_reason: "Payment for goods",
  payment_date: "2026-12-01",
  is_payer: "Y",
} as const;

/** Pays a supplier for an account; null is the one without a name. */
export async function paySupplier(account: string | null) {
  const of = account === null ? {} : { account };
  const { beneficiary_id } = await createBeneficiary(supplier, of);
  const created = await createPayout({ ...payment, beneficiary_id }, of);
  const { payout_status } = await awaitPayout(created, { within: "1 minute" });
  return payout_status;
}
