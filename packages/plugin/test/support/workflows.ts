import { beneficiary } from "@durable-payments/tools/test-data/inputs";
import { awaitPayout, createBeneficiary, createPayout } from "@durable-payments/workflows";
import { payment } from "./payment.ts";
import { executeChild, uuid4, workflowInfo } from "@temporalio/workflow";

export {
  checkWorker,
  notifier,
  onboardCardholder,
  payout,
  runBatch,
  tracker,
} from "@durable-payments/workflows/definitions";

const supplier = { ...beneficiary, account_currency: "USD", payment_method: "swift" } as const;

/** Pays a supplier for an account; null is the one without a name. */
export async function paySupplier(account: string | null) {
  const of = account === null ? {} : { account };
  const { beneficiary_id } = await createBeneficiary(supplier, of);
  const created = await createPayout({ ...payment, beneficiary_id }, of);
  const { payout_status } = await awaitPayout(created, { within: "1 minute" });
  return payout_status;
}

/** A salary of a month. */
export interface Salary {
  /** The month, and the employee: `2026-11/e17`. */
  readonly of: string;
  readonly beneficiary_id: string;
  readonly hasKey: boolean;
}

/** Pays one salary; its reference says which. */
export async function paySalary({ beneficiary_id, hasKey, of }: Salary) {
  const request = { ...payment, beneficiary_id, payout_reference: `Salary ${of}` };
  return (await createPayout(request, hasKey ? { key: `salary/${of}` } : {})).payout_id;
}

/** Pays a salary by a child, whose id says which. */
export const payByChild = (salary: Salary) =>
  executeChild(paySalary, { workflowId: `salary/${salary.of}`, args: [salary] });

/** Pays a salary by a child whose id says nothing; its key does. */
export const dispatch = (salary: Salary) =>
  executeChild(paySalary, { workflowId: uuid4(), args: [salary] });

/** Pays a salary by a child that is named after its parent, and so after each firing of a Schedule. */
export const payByOwnChild = (salary: Salary) =>
  executeChild(paySalary, {
    workflowId: `${workflowInfo().workflowId}/${salary.of}`,
    args: [salary],
  });
