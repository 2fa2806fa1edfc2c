/** The requests and answers of the service, the settings and the options of calls: the same in both clients. */
export type { Page, UnreadableRow } from "./contract/answers.ts";
export type { Assumptions } from "./contract/assumptions.ts";
export type { Pong } from "./contract/auth.ts";
export type {
  Balance,
  BalanceBankDetails,
  CreateBalanceInput,
  FundingAccount,
} from "./contract/balances.ts";
export type {
  BankDetails,
  Beneficiary,
  BeneficiaryAddress,
  CreateBeneficiaryInput,
  UpdateBeneficiaryInput,
} from "./contract/beneficiaries.ts";
export type {
  Cardholder,
  CreateCardholderInput,
  CreatedCardholder,
  ListCardholdersInput,
} from "./contract/cardholders.ts";
export type {
  Card,
  CardWithdrawal,
  CreateCardInput,
  UpdateCardInput,
  WithdrawFromCardInput,
} from "./contract/cards.ts";
export type { Fault } from "./contract/faults.ts";
export type { Payer } from "./contract/payers.ts";
export type { CreatePayoutInput, ListPayoutsInput, Payout } from "./contract/payouts.ts";
export type { ListTransactionsInput, Transaction } from "./contract/transactions.ts";
export type { WithResponse } from "./client/call-options.ts";
export type { ClientSettings } from "./client/config.ts";
export type { Hooks, RequestEvent, ResponseEvent } from "./client/hooks.ts";
export type { Input, Item, OperationName, Output } from "./client/operations.ts";
export type { ClientLogger } from "./client/say.ts";
export type { ClientDispatcher } from "./client/setting-checks.ts";
