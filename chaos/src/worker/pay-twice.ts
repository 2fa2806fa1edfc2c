import type { PayoutInput, Workflows } from "@durable-payments/protocol";
import { awaitPayout, checkRequests, createPayout } from "@durable-payments/workflows";
import { executeChild, workflowInfo } from "@temporalio/workflow";

export * from "@durable-payments/workflows/definitions";

type Payment = PayoutInput["payout"] & { readonly beneficiary_id: string };

/** Two payments of one run, which a list of payouts may not distinguish. */
export interface PayTwiceInput {
  readonly first: Payment;
  readonly second: Payment;
  /** Whether both are sent, and awaited, at the same time. */
  readonly sideBySide: boolean;
  readonly account?: string;
}

/** Pays twice in one run, and returns both payouts. */
export async function payTwice({ account, first, second, sideBySide }: PayTwiceInput) {
  checkRequests({ createPayout: [first, second] });
  const pay = async (payment: Payment, step: string) =>
    awaitPayout(await createPayout(payment, { account, step }), { within: "30 days" });
  return sideBySide
    ? Promise.all([pay(first, "first"), pay(second, "second")])
    : [await pay(first, "first"), await pay(second, "second")];
}

/** A payment by its business key, which any number of runs may make. */
export interface SalaryInput {
  readonly pay: PayoutInput & { readonly beneficiary_id: string };
  readonly key: string;
  /** By a step with the key; by a child whose id is that of the key; by a child of this run, with the key in its input. */
  readonly by: "step" | "child" | "child with key";
}

/** Pays a salary once, however often Schedules start it. */
export async function paySalary({ by, key, pay }: SalaryInput): Promise<unknown> {
  const { account, beneficiary_id, payout } = pay;
  if (by === "step") {
    const created = await createPayout({ ...payout, beneficiary_id }, { account, key });
    return awaitPayout(created, { account, within: "30 days" });
  }
  const workflowId = by === "child" ? `payout/${key}` : `${workflowInfo().workflowId}/${key}`;
  const args: [PayoutInput] = [by === "child" ? pay : { ...pay, key }];
  return executeChild<Workflows["payout"]>("payout", { workflowId, args });
}
