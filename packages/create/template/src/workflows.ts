import { awaitPayout, createBeneficiary, createPayout } from "durable-payments/workflows";

// The worker runs these as well.
export {
  checkWorker,
  notifier,
  onboardCardholder,
  payout,
  runBatch,
  tracker,
} from "durable-payments/workflows";

/** An invoice to pay. Its fields are named as in the service's API; likely duplicates are found by these two. */
export interface Invoice {
  readonly beneficiary: Parameters<typeof createBeneficiary>[0];
  readonly payout: Omit<Parameters<typeof createPayout>[0], "beneficiary_id">;
}

/** Pays a supplier's invoice and returns the completed payout. Throws `PayoutFailed` if the payout fails. */
export async function payInvoice({ beneficiary, payout }: Invoice) {
  const { beneficiary_id } = await createBeneficiary(beneficiary);
  const created = await createPayout({ ...payout, beneficiary_id });
  const { payout_id, payout_status } = await awaitPayout(created, { within: "5 days" });
  return { payout_id, payout_status };
}
