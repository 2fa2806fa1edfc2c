import { payInStep } from "./one-payment.ts";

export { paySupplier } from "../examples/workflows.ts";

/** Another workflow of the same name, as Temporal sees it the same: its step has another name. */
export async function payBeneficiary(beneficiary_id: string): Promise<void> {
  await payInStep(beneficiary_id, "payTheSupplier");
}
