import {
  awaitFunds,
  awaitPayout,
  checkRequests,
  createBeneficiary,
  createPayout,
  NotFunded,
  OverLimit,
  ownOperation,
  PayoutFailed,
  Refused,
  undo,
} from "durable-payments/workflows";
import type * as operations from "./warehouse.ts";

// The worker runs these as well.
export {
  checkWorker,
  notifier,
  onboardCardholder,
  payout,
  runBatch,
  tracker,
} from "durable-payments/workflows";

type Payment = Omit<Parameters<typeof createPayout>[0], "beneficiary_id">;

/** An order: its supplier is paid a deposit, and later the balance. */
export interface Order {
  readonly orderId: string;
  readonly supplier: Parameters<typeof createBeneficiary>[0];
  readonly deposit: Payment;
  readonly balance: Payment;
}

/** Failures that say that the deposit was not paid. */
const UNPAID = [NotFunded, OverLimit, PayoutFailed, Refused];

const reserveGoods = ownOperation<typeof operations>("reserveGoods");

/** Reserves the goods of an order and pays for them in two parts; if the deposit fails, removes the reservation. */
export async function payOrder({ balance, deposit, orderId, supplier }: Order) {
  checkRequests({ createBeneficiary: [supplier], createPayout: [deposit, balance] });
  const { beneficiary_id } = await createBeneficiary(supplier);
  await reserveGoods({ orderId });
  try {
    await awaitFunds(deposit);
    const first = await createPayout({ ...deposit, beneficiary_id }, { step: "deposit" });
    await awaitPayout(first, { within: "5 days" });
  } catch (error) {
    // After PayoutStillOpen it may still be paid. After Rejected and Ended, nothing more is sent under this id.
    if (UNPAID.some((type) => error instanceof type)) await undo("reserveGoods");
    throw error;
  }
  await awaitFunds(balance);
  const second = await createPayout({ ...balance, beneficiary_id }, { step: "balance" });
  return awaitPayout(second, { within: "5 days" });
}
