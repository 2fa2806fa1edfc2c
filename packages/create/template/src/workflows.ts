import { awaitPayout, createBeneficiary, createPayout } from "@durable-payments/workflows";

/** An invoice to pay. Its fields have the names of the service. */
export interface Invoice {
  readonly supplier: Parameters<typeof createBeneficiary>[0];
  readonly payment: Omit<Parameters<typeof createPayout>[0], "beneficiary_id">;
}

/** Pays a supplier's invoice, and returns what became of the payout. A payout that fails throws `PayoutFailed`. */
export async function payInvoice({ payment, supplier }: Invoice) {
  const { beneficiary_id } = await createBeneficiary(supplier);
  const created = await createPayout({ ...payment, beneficiary_id });
  const { payout_id, payout_status } = await awaitPayout(created, { within: "5 days" });
  return { payout_id, payout_status };
}
