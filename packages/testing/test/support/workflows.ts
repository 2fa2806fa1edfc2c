import { beneficiary } from "@durable-payments/tools/test-data/inputs";
import { awaitPayout, createBeneficiary, createPayout } from "@durable-payments/workflows";
import { condition, proxyActivities, sleep } from "@temporalio/workflow";

export {
  checkWorker,
  notifier,
  onboardCardholder,
  payout,
  runBatch,
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
export async function paySupplier(amount: string, key?: string | null, account?: string) {
  const { beneficiary_id } = await createBeneficiary(supplier, { account });
  const request = { ...payment, beneficiary_id, amount };
  const created = await createPayout(request, { account, ...(key && { key }) });
  const { payout_status } = await awaitPayout(created, { within: "10 days" });
  return payout_status;
}

const { note } = proxyActivities<{ note: (text: string) => Promise<string> }>({
  startToCloseTimeout: "10 seconds",
});

/** Has an activity of its own that is over at once, and sleeps for weeks. */
export async function noteAndSleep(): Promise<void> {
  await note("here");
  await sleep("14 days");
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
