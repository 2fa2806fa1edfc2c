import { createPayout } from "durable-payments/workflows";
import { ApplicationFailure, workflowInfo } from "@temporalio/workflow";
import { defineSearchAttributeKey } from "@temporalio/common";

export * from "./workflows.ts";

/** An employee and the monthly salary. The beneficiary was created when the employee was hired. */
export interface Employee {
  readonly id: string;
  readonly beneficiary_id: string;
  readonly salary: string;
}

const SCHEDULED_AT = defineSearchAttributeKey("TemporalScheduledStartTime", "DATETIME");

/** Pays one month's salary. All that is sent follows from the employee and the month: a later firing asks for the same. */
async function paySalary({ beneficiary_id, id, salary }: Employee, month: string) {
  const request = {
    beneficiary_id,
    amount: salary,
    currency: "USD",
    payout_reason: "Salary",
    payout_reference: `Salary ${month}`,
    // Not today: another date would be another request.
    payment_date: `${month}-28`,
    is_payer: "Y",
  } as const;
  return (await createPayout(request, { key: `salary/${month}/${id}` })).payout_id;
}

/** Pays the salaries of the month in which the Schedule fires, all at once, and returns the ids of the payouts. */
export async function payPayroll(employees: ReadonlyArray<Employee>) {
  const at = workflowInfo().typedSearchAttributes.get(SCHEDULED_AT);
  if (at === undefined)
    throw ApplicationFailure.nonRetryable("Only a Schedule starts the payroll.");
  const month = at.toISOString().slice(0, 7);
  // One salary that fails stops no other.
  const paid = await Promise.allSettled(employees.map((employee) => paySalary(employee, month)));
  const unpaid = employees.filter((_, index) => paid[index]?.status === "rejected");
  if (unpaid.length === 0) return paid.map((one) => (one.status === "fulfilled" ? one.value : ""));
  throw ApplicationFailure.nonRetryable(`Not paid: ${unpaid.map(({ id }) => id).join(", ")}`);
}
