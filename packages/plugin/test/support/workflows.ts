import { beneficiary } from "@durable-payments/tools/test-data/inputs";
import { awaitPayout, createBeneficiary, createPayout } from "@durable-payments/workflows";

export {
  checkWorker,
  notifier,
  onboardCardholder,
  payout,
  payoutBatch,
  tracker,
} from "@durable-payments/workflows/definitions";

const supplier = { ...beneficiary, account_currency: "USD", payment_method: "swift" } as const;

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
