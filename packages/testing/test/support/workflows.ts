import { beneficiary } from "@durable-payments/tools/test-data/inputs";
import { awaitPayout, createBeneficiary, createPayout } from "@durable-payments/workflows";
import { condition, sleep } from "@temporalio/workflow";

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
  currency: "USD",
  payout_reason: "Payment for goods",
  payout_reference: "Invoice 1",
  payment_date: "2026-12-01",
  is_payer: "Y",
} as const;

/** Pays our supplier an amount, perhaps under a key, and returns the status of the payout: `completed`. */
export async function paySupplier(amount: string, key?: string) {
  const { beneficiary_id } = await createBeneficiary(supplier);
  const created = await createPayout({ ...payment, beneficiary_id, amount }, { key });
  const { payout_status } = await awaitPayout(created, { within: "10 days" });
  return payout_status;
}

/** Waits for nothing that comes. */
export async function waitForNothing(): Promise<void> {
  await condition(() => false);
}

/** Sleeps, and answers when it has woken up. */
export async function sleepLong(): Promise<number> {
  await sleep("30 days");
  return Date.now();
}
