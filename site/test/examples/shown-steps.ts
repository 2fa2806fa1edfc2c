import {
  awaitPayout,
  checkRequests,
  createPayout,
  ownOperation,
  undo,
  voucherFor,
} from "durable-payments/workflows";
import { executeChild } from "@temporalio/workflow";

// The examples of the docstrings of steps: compiled, and run as parts of the workflows' own tests.

type Payment = Parameters<typeof createPayout>[0];

interface Reserve {
  readonly orderId: string;
}

export async function payDeposit(order: Reserve): Promise<void> {
  await reserve(order);
}

export async function payInParts(
  { beneficiary_id, deposit }: { beneficiary_id: string; deposit: Payment },
  request: Payment,
): Promise<string> {
  // #region example
  const payout = await createPayout({ ...deposit, beneficiary_id }, { step: "deposit" });
  // #endregion
  // #region example
  await awaitPayout(await createPayout(request), { within: "5 days" });
  // #endregion
  return payout.payout_id;
}

export function check(supplier: object, deposit: object, balance: object): void {
  // #region example
  checkRequests({ createBeneficiary: [supplier], createPayout: [deposit, balance] });
  // #endregion
}

export async function reserve({ orderId }: Reserve): Promise<void> {
  // #region example
  const reserveGoods = ownOperation<Reserve>("reserveGoods");
  await reserveGoods({ orderId });
  // #endregion
  // #region example
  await undo("reserveGoods");
  // #endregion
}

export async function payByChild(order: Reserve): Promise<void> {
  const { orderId } = order;
  // #region example
  const workflowId = `${orderId}/deposit`;
  await executeChild(payDeposit, { workflowId, args: [order], memo: voucherFor(workflowId) });
  // #endregion
}
