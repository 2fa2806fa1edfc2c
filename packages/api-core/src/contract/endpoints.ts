import type { authOperations } from "./auth.ts";
import type { balanceOperations } from "./balances.ts";
import type { beneficiaryOperations } from "./beneficiaries.ts";
import type { cardholderOperations } from "./cardholders.ts";
import type { cardOperations } from "./cards.ts";
import type { payerOperations } from "./payers.ts";
import type { payoutOperations } from "./payouts.ts";
import type { transactionOperations } from "./transactions.ts";

/**
 * The endpoints of all operations but signIn, by name. What is mapped from this type, as the client's methods
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
