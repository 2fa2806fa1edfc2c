import { voucherFor } from "durable-payments/workflows";
import { executeChild, workflowInfo } from "@temporalio/workflow";
import { paySupplier } from "./workflows.ts";

export * from "./workflows.ts";

/** Pays our supplier twice, each time in a child of its own. */
export async function payBoth(first: string, second: string) {
  const pay = (name: string, amount: string) => {
    const workflowId = `${workflowInfo().workflowId}/${name}`;
    return executeChild(paySupplier, { workflowId, args: [amount], memo: voucherFor(workflowId) });
  };
  return [await pay("first", first), await pay("second", second)];
}
