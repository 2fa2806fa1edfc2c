import * as HttpApi from "effect/http-api/HttpApi";
import { auth, type authOperations } from "./auth.ts";
import { balances, type balanceOperations } from "./balances.ts";
import { beneficiaries, type beneficiaryOperations } from "./beneficiaries.ts";
import { cardholders, type cardholderOperations } from "./cardholders.ts";
import { cards, type cardOperations } from "./cards.ts";
import { payers, type payerOperations } from "./payers.ts";
import { payouts, type payoutOperations } from "./payouts.ts";
import { transactions, type transactionOperations } from "./transactions.ts";

/**
 * The whole service as one contract. Client, simulator, OpenAPI document, activities and the
 * starter's input checks are all derived from it.
 */
export const PaymentsApi = HttpApi.make("payments").add(
  auth,
  beneficiaries,
  payouts,
  payers,
  balances,
  transactions,
  cardholders,
  cards,
);

/**
 * The endpoints of all operations but signIn, by name. A type that is mapped from this one, as the client's methods
 * are, keeps the documentation of each operation, and leads to it.
 */
export type Endpoints = typeof authOperations &
  typeof beneficiaryOperations &
  typeof payoutOperations &
  typeof payerOperations &
  typeof balanceOperations &
  typeof transactionOperations &
  typeof cardholderOperations &
  typeof cardOperations;
