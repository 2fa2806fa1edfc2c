import {
  awaitFunds,
  awaitPayout,
  awaitReturn,
  awaitVerification,
  checkRequests,
  confirmCard,
  createBeneficiary,
  createCardholder,
  createPayout,
  issueCard,
  ownOperation,
  undo,
  voucherFor,
} from "durable-payments/workflows";
import type { OwnOperation } from "durable-payments/worker";
import { executeChild, proxyActivities, workflowInfo } from "@temporalio/workflow";

// The examples of the README and of the docstrings of steps: compiled, and run as parts of the workflows' own tests.

type Payment = Parameters<typeof createPayout>[0];

interface Reserve {
  readonly orderId: string;
}

declare const operations: { readonly reserveGoods: OwnOperation<Reserve> };

interface Invoice {
  readonly supplier: Parameters<typeof createBeneficiary>[0];
  readonly payment: Omit<Payment, "beneficiary_id">;
}

export async function payInvoice({ payment, supplier }: Invoice): Promise<void> {
  // #region example
  const { beneficiary_id } = await createBeneficiary(supplier);
  const payout = await createPayout({ ...payment, beneficiary_id });
  // Days later: the payout is completed, or this throws PayoutFailed or PayoutStillOpen.
  await awaitPayout(payout, { within: "5 days" });
  // #endregion
}

export async function watchReturn(payout: { readonly payout_id: string }): Promise<void> {
  const { openAgain } = proxyActivities<{
    openAgain: (payout_id: string, reason: string) => Promise<void>;
  }>({ startToCloseTimeout: "1 minute" });
  // #region example
  await awaitPayout(payout, { within: "5 days" });
  const returned = await awaitReturn(payout, { within: "30 days" });
  if (returned !== undefined) await openAgain(returned.payout_id, returned.payout_status);
  // #endregion
}

export async function addSupplier(supplier: Invoice["supplier"]): Promise<string> {
  // #region example
  const { beneficiary_id } = await createBeneficiary(supplier);
  // #endregion
  return beneficiary_id;
}

export async function onboard(
  person: Parameters<typeof createCardholder>[0],
  product_code: string,
): Promise<string> {
  // #region example
  const { card_holder_id } = await createCardholder(person);
  await awaitVerification({ card_holder_id }, { within: "7 days" });
  const { balance_id } = await awaitFunds({ currency: "USD", amount: "100.00" });
  const order = { card_holder_id, balance_id, product_code, card_limit: "100.00" };
  const card = await issueCard(order);
  await confirmCard(card, { card_name: "Travel" });
  // #endregion
  return card.card_id;
}

export async function readBalance(): Promise<string> {
  // #region example
  const { retrieveBalance } = proxyActivities<{
    retrieveBalance: (of: { currency: string }) => Promise<{ available_balance: string }>;
  }>({ startToCloseTimeout: "5 minutes", scheduleToCloseTimeout: "1 hour" });
  const { available_balance } = await retrieveBalance({ currency: "USD" });
  // #endregion
  return available_balance;
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

export async function nameSteps(deposit: Payment, balance: Payment, bonus: Payment): Promise<void> {
  // #region example
  await createPayout(deposit, { step: "deposit" });
  await createPayout(balance); // right: it is named createPayout
  await createPayout(bonus); // wrong: the name is used, so the workflow task fails
  const { runId } = workflowInfo();
  await createPayout(bonus, { step: `bonus ${runId}` }); // wrong: a reset changes the name, and a person must decide
  await createPayout(bonus, { step: "bonus 2026-11" }); // right
  // #endregion
}

export function check(supplier: object, deposit: object, balance: object): void {
  // #region example
  checkRequests({ createBeneficiary: [supplier], createPayout: [deposit, balance] });
  // #endregion
}

export async function reserve({ orderId }: Reserve): Promise<void> {
  // #region example
  const reserveGoods = ownOperation<typeof operations>("reserveGoods");
  await reserveGoods({ orderId });
  // #endregion
  // #region example
  await undo("reserveGoods");
  // #endregion
}

interface Salary {
  readonly employee: string;
  readonly month: string;
  readonly request: Payment;
}

export async function paySalary(salary: Salary): Promise<void> {
  await awaitPayout(await createPayout(salary.request));
}

export async function payBySalary(salary: Salary): Promise<void> {
  const { employee, month } = salary;
  // #region example
  const workflowId = `salary/${month}/${employee}`;
  await executeChild(paySalary, { workflowId, args: [salary] });
  // #endregion
}

export async function payByChild(order: Reserve): Promise<void> {
  // #region example
  const workflowId = `${workflowInfo().workflowId}/deposit`;
  await executeChild(payDeposit, { workflowId, args: [order], memo: voucherFor(workflowId) });
  // #endregion
}
