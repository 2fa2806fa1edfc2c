import type { PaymentsActivities } from "@durable-payments/activities";
import type { Input } from "@durable-payments/api-core";
import {
  awaitFunds,
  awaitPayout,
  awaitVerification,
  beginRun,
  checkInput,
  createBeneficiary,
  createCardholder,
  createPayout,
  defineOperation,
  ensureBalance,
  intentOf,
  issueCard,
  payout,
  type PayoutInput,
  runChild,
  sendAndReconcile,
} from "@durable-payments/workflows";
import { proxyActivities } from "@temporalio/workflow";

export { paySupplier } from "./pay-supplier.ts";

/** The examples of the docstrings of steps, each in a workflow that a test runs. */
type Payment = Omit<Input<"createPayout">, "unique_request_id">;

/** Two payments. */
export interface PayTwoInput {
  readonly first: Payment;
  readonly second: Payment;
}

// #region example
export function payTwo(input: PayTwoInput): Promise<void> {
  const run = beginRun({ input });
  return run.execute(async () => {
    const { first, second } = await run.input();
    await createPayout(run, first, "firstPayout");
    await createPayout(run, second, "secondPayout");
  });
}
// #endregion

/** Checks two payments, and adds up nothing: the worker knows what they must be. */
export async function checkTwo(input: PayTwoInput): Promise<ReadonlyArray<string>> {
  const run = beginRun({ input });
  return run.execute(async () => {
    // #region example
    const { first, second } = await checkInput(run);
    // #endregion
    return [first.amount, second.amount];
  });
}

/** Pays a new beneficiary as soon as the balance holds the amount. */
export async function payNewBeneficiary(
  beneficiary: Input<"createBeneficiary">,
): Promise<string | undefined> {
  const run = beginRun();
  return run.execute(async () => {
    // #region example
    await awaitFunds(run, { amount: "250.00", currency: "USD" }, { within: "7 days" });
    // #endregion
    // #region example
    const beneficiary_id = await createBeneficiary(run, beneficiary, { whenLost: "ask" });
    // #endregion
    // #region example
    const created = await createPayout(run, {
      beneficiary_id,
      amount: "12.50",
      currency: "EUR",
      payout_reason: "Payment for goods",
      payout_reference: "Invoice 17",
      payment_date: "2026-12-01",
      is_payer: "Y",
    });
    const { outcome } = await awaitPayout(run, created, { within: "7 days" });
    // #endregion
    return outcome;
  });
}

/** Issues a card to a new cardholder. */
export async function issueToNewCardholder(
  cardholder: Input<"createCardholder">,
  product_code: string,
): Promise<string> {
  const run = beginRun();
  return run.execute(async () => {
    // #region example
    const { balance_id } = await ensureBalance(run, "USD");
    // #endregion
    // #region example
    const card_holder_id = await createCardholder(run, cardholder);
    await awaitVerification(run, card_holder_id, { within: "3 days" });
    // #endregion
    // #region example
    const card = await issueCard(run, {
      card_holder_id,
      balance_id,
      product_code,
      card_limit: "50",
    });
    // #endregion
    return card.card_id;
  });
}

/** Pays in a child. */
export async function payInChild(first: PayoutInput): Promise<string> {
  const run = beginRun();
  return run.execute(async () => {
    // #region example
    const { payout_id } = await runChild(run, payout, { step: "payTheFirst", args: [first] });
    // #endregion
    return payout_id;
  });
}

const activities = proxyActivities<PaymentsActivities>({ startToCloseTimeout: "1 minute" });

/** Sends a payout in a step of its own. */
export async function topUpByPayout(request: Input<"createPayout">): Promise<string> {
  const run = beginRun();
  return run.execute(async () => {
    // #region example
    const topUp = await run.step("topUp", "topping up the card", () =>
      sendAndReconcile(run, {
        step: "topUp",
        operation: "createPayout",
        request,
        intent: ({ amount, beneficiary_id }) => intentOf("topUp", [beneficiary_id, amount]),
        isKeyed: true,
        send: (sent, intent) => activities.createPayout(sent, intent),
        whenLost: "ask",
        shown: ({ amount, currency }) => ({ amount, currency }),
        idsWanted: ["payout_id"],
        fromIds: ({ payout_id = "" }) => activities.retrievePayout({ payout_id }),
        ids: ({ payout_id }) => ({ payout_id }),
      }),
    );
    // #endregion
    return topUp.payout_id;
  });
}

/** An entry of a ledger; `amount` is a decimal string. */
export interface Entry {
  readonly ledger: string;
  readonly amount: string;
}

/** An entry that the ledger has booked. */
export interface BookedEntry extends Entry {
  readonly id: string;
}

/** Books an entry by an operation of the worker's. */
export async function book(entry: Entry): Promise<string> {
  const run = beginRun();
  return run.execute(async () => {
    // #region example
    const bookEntry = defineOperation<Entry, BookedEntry>({
      name: "bookEntry",
      repeat: "keyed",
      note: "booking the entry",
      shown: ({ amount, ledger }) => ({ amount, ledger }),
    });
    const booked = await bookEntry(run, entry, { undo: "reverse the entry" });
    // #endregion
    return booked.id;
  });
}
