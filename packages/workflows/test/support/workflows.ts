import {
  awaitFunds,
  awaitPayout,
  awaitReturn,
  awaitVerification,
  checkRequests,
  createBeneficiary,
  createPayout,
  ensureBalance,
  ownOperation,
  PaymentFailure,
  PayoutFailed,
  PayoutStillOpen,
  Refused,
  undo,
  voucherFor,
  type StepOptions,
} from "../../src/index.ts";
import type { operations } from "./real-rig.ts";
import {
  ApplicationFailure,
  CancellationScope,
  continueAsNew,
  executeChild,
  isCancellation,
  proxyActivities,
  sleep,
  workflowInfo,
} from "@temporalio/workflow";

export { onboardCardholder, payout, tracker } from "../../src/index.ts";

type Payout = Parameters<typeof createPayout>[0];

/** What is paid: an amount is enough where no service reads it. */
type Part = Payout | string;

const request = (of: Part): Payout =>
  typeof of === "string"
    ? {
        amount: of,
        beneficiary_id: "b-1",
        currency: "EUR",
        is_payer: "Y",
        payment_date: "2026-12-01",
        payout_reason: "Payment for goods",
        payout_reference: "",
      }
    : of;

const { note } = proxyActivities<{ note: (text: string) => Promise<string> }>({
  startToCloseTimeout: "10 seconds",
});

const reserveGoods = ownOperation<typeof operations>("reserveGoods");

/** Pays once. */
export const pay = (part: Part = "1.00", options?: StepOptions) =>
  createPayout(request(part), options);

/** Pays twice without a name, and swallows what the second call throws. */
export async function payTwice(): Promise<string> {
  await pay("1.00");
  try {
    await pay("2.00");
  } catch {
    return "swallowed";
  }
  return "paid twice";
}

/** Pays parts by these names, one after the other. */
export async function payParts(parts: ReadonlyArray<[step: string, part: Part]>) {
  const made: Array<string> = [];
  for (const [step, part] of parts) made.push((await pay(part, { step })).payout_id);
  return made;
}

/** Pays parts by these names, at once. */
export const payAtOnce = async (parts: ReadonlyArray<[step: string, part: Part]>) =>
  (await Promise.all(parts.map(([step, part]) => pay(part, { step })))).map(
    ({ payout_id }) => payout_id,
  );

/** Pays with a name, and then once more under the name of its operation. */
export async function payByOtherName(): Promise<void> {
  await reserveGoods({ orderId: "1" }, { step: "deposit" });
  await pay("1.00", { step: "deposit" });
}

/** Pays by these keys, one after the other. */
export async function payByKeys(keys: ReadonlyArray<string>, part: Part = "1.00") {
  const made: Array<string> = [];
  for (const key of keys) made.push((await pay(part, { key })).payout_id);
  return made;
}

/** Pays, and continues as new, this many times. */
export async function payEachMonth(
  months: number,
  isKeyed: boolean,
  part: Part = "1.00",
): Promise<void> {
  await pay(part, isKeyed ? { key: `month ${months}` } : {});
  if (months > 1) await continueAsNew<typeof payEachMonth>(months - 1, isKeyed, part);
}

/** Pays by children of these ids. */
export async function payByChildren(
  ids: ReadonlyArray<string>,
  part: Part = "1.00",
): Promise<void> {
  for (const workflowId of ids) {
    await executeChild(pay, { workflowId, args: [part], memo: voucherFor(workflowId) });
  }
}

/** Names the class of what a payment fails with. */
export async function payAndCatch(): Promise<string> {
  try {
    await pay();
    return "paid";
  } catch (error) {
    if (error instanceof Refused) return "Refused";
    return error instanceof PaymentFailure ? `PaymentFailure ${error.type}` : "another error";
  }
}

/** Pays in a scope that is cancelled after a second at the earliest. */
export async function payAndCancel(): Promise<string> {
  try {
    return await CancellationScope.cancellable(async () => {
      const { cancel } = CancellationScope.current();
      void sleep("1 second").then(() => cancel.call(CancellationScope.current()));
      return (await pay()).payout_id;
    });
  } catch (error) {
    return isCancellation(error) ? "cancelled" : "another error";
  }
}

/** Pays; cancelled by its client. */
export async function payCancellable(): Promise<string> {
  try {
    return (await pay()).payout_id;
  } catch (error) {
    if (isCancellation(error)) await undo("reserveGoods");
    throw error;
  }
}

/** Waits for a payout, and names what the wait ends by. */
export async function waitForPayout(payout_id: string): Promise<string> {
  try {
    return (await awaitPayout({ payout_id }, { within: "5 days" })).payout_status;
  } catch (error) {
    if (error instanceof PayoutFailed) return "PayoutFailed";
    if (error instanceof PayoutStillOpen) return "PayoutStillOpen";
    throw error;
  }
}

const STEPS = {
  awaitFunds,
  awaitPayout,
  awaitReturn,
  awaitVerification,
  checkRequests,
  createBeneficiary,
  createPayout,
  undo,
};

/** Calls a step with any arguments, whatever its types say. */
export async function callStep(
  name: keyof typeof STEPS,
  ...args: ReadonlyArray<unknown>
): Promise<unknown> {
  const step: (...given: ReadonlyArray<never>) => unknown = STEPS[name];
  // JSON has no undefined.
  return step(...args.map((arg) => (arg === null ? undefined : arg) as never));
}

/** Waits whether a payout comes back; twice at once. */
export async function waitForReturn(payout_id: string) {
  const wait = () => awaitReturn({ payout_id }, { within: "20 days" });
  const [one, other] = await Promise.all([wait(), wait()]);
  return one === undefined && other === undefined ? "kept" : [one, other];
}

/** Waits for a payout, and pays if it was not paid. */
export async function payIfUnpaid(payout_id: string, part: Part): Promise<string> {
  try {
    return (await awaitPayout({ payout_id })).payout_status;
  } catch (error) {
    if (!(error instanceof PayoutFailed || error instanceof Refused)) throw error;
    return (await pay(part)).payout_id;
  }
}

/** Waits for the same funds twice, at once. */
export const waitForFunds = async () => {
  const needed = { amount: "100.00", currency: "USD" };
  const [one, other] = await Promise.all([awaitFunds(needed), awaitFunds(needed)]);
  return [one.balance_id, other.balance_id];
};

export const verify = async (card_holder_id: string) =>
  (await awaitVerification({ card_holder_id }, { within: "1 day" })).outcome;

export const balanceOf = async (currency: string) => (await ensureBalance(currency)).balance_id;

/** The example of the documentation: reserves, pays, undoes. */
export async function payOrder(orderId: string) {
  checkRequests({ createBeneficiary: [{}], createPayout: [{ amount: "1.00" }] });
  const { beneficiary_id } = await createBeneficiary({} as never);
  await reserveGoods({ orderId });
  try {
    const made = await createPayout({ ...request("1.00"), beneficiary_id }, { step: "deposit" });
    return await awaitPayout(made, { within: "5 days" });
  } catch (error) {
    if (error instanceof Refused || error instanceof PayoutFailed) await undo("reserveGoods");
    throw error;
  }
}

/** Pays, and then fails with an error that Temporal may retry, once. */
export async function payThenFail(options: StepOptions): Promise<string> {
  const { payout_id } = await pay("1.00", options);
  if (workflowInfo().attempt === 1) throw ApplicationFailure.retryable("The first attempt fails.");
  return payout_id;
}

/** Has an activity of its own before it pays. */
export async function noteAndPay(text: string, part: Part = "1.00") {
  const noted = await note(text);
  const { payout_id } = await pay(part);
  return { noted, payout_id };
}
