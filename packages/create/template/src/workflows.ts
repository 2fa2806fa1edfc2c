import type { CreateBeneficiaryInput, CreatePayoutInput } from "@durable-payments/api-core";
import {
  awaitFunds,
  awaitPayout,
  beginRun,
  checkRequests,
  createBeneficiary,
  createPayout,
} from "@durable-payments/workflows";

/** An invoice: whom it is paid to, and what is paid. */
export interface Invoice {
  readonly supplier: CreateBeneficiaryInput;
  readonly payment: Omit<CreatePayoutInput, "unique_request_id" | "beneficiary_id">;
}

/** Pays an invoice exactly once, as soon as the balance holds the amount, and returns what became of the payout. */
export async function payInvoice({ payment, supplier }: Invoice) {
  const run = beginRun();
  return run.execute(async () => {
    // Everything is checked before anything is sent.
    await checkRequests(run, [
      { operation: "createBeneficiary", input: supplier, at: "supplier" },
      { operation: "createPayout", input: payment, at: "payment", later: ["beneficiary_id"] },
    ]);
    await awaitFunds(run, payment);
    const beneficiary_id = await createBeneficiary(run, supplier);
    const created = await createPayout(run, { ...payment, beneficiary_id });
    const { payout_id, payout_status } = await awaitPayout(run, created, { within: "5 days" });
    return { payout_id, payout_status };
  });
}
