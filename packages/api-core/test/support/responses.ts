import type { OperationName } from "../../src/effect.ts";
import { type Reply, success } from "./server.ts";

const page = (item: Readonly<Record<string, unknown>>): Reply =>
  success({ total_item: 1, total_page: 1, item_list: [item] });

/** The least that the document promises of every operation's answer. */
export const answers: { readonly [Name in OperationName]: Reply } = {
  ping: { body: { message: "pong" } },
  createBeneficiary: success({ beneficiary_id: "b-1", beneficiary_status: "pending" }),
  updateBeneficiary: success(),
  retrieveBeneficiary: success({ beneficiary_id: "b-1" }),
  createPayout: success({ id: "p-1", status: "processing", amount: "100.50", currency: "USD" }),
  listPayouts: page({
    payout_id: "p-1",
    payout_status: "closed",
    amount: "1.00",
    currency: "USD",
  }),
  retrievePayout: success({
    payout_id: "p-1",
    payout_status: "closed",
    amount: "1.00",
    currency: "USD",
  }),
  listPayers: success([{ payer_id: "y-1" }]),
  createBalance: success(),
  retrieveBalance: success({ balance_id: "s-1", currency: "USD", available_balance: "5.00" }),
  retrieveBalanceBankDetails: success({ local: [], swift: [], status: "opened" }),
  listTransactions: page({
    transaction_id: "t-1",
    transaction_status: "completed",
    amount: "1.00",
    currency: "USD",
  }),
  createCardholder: success({ card_holder_id: "h-1" }),
  listCardholders: page({ card_holder_id: "h-1", card_holder_status: "SUCCESS" }),
  removeCardholder: success(),
  createCard: success({
    card_id: "c-1",
    card_status: "pending",
    unique_request_id: "0b8f5a54-6f0f-5f3e-9a10-3a1f6f1f2c3d",
  }),
  withdrawFromCard: success({
    card_id: "card-1",
    card_number: "4000001234567899",
    amount: "5.00",
    unique_request_id: "1b8f5a54-6f0f-5f3e-9a10-3a1f6f1f2c3d",
  }),
  updateCard: success(),
  cancelCard: success(),
  freezeCard: success(),
};
