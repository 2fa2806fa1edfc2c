export { type Assumptions, AssumptionsSchema, defaultAssumptions } from "./contract/assumptions.ts";
export type { Pong } from "./contract/auth.ts";
export type {
  Balance,
  BalanceBankDetails,
  CreateBalanceInput,
  FundingAccount,
  RetrieveBalanceBankDetailsInput,
  RetrieveBalanceInput,
} from "./contract/balances.ts";
export type {
  BankDetails,
  Beneficiary,
  BeneficiaryAddress,
  CreateBeneficiaryInput,
  RetrieveBeneficiaryInput,
  UpdateBeneficiaryInput,
} from "./contract/beneficiaries.ts";
export type {
  Cardholder,
  CreateCardholderInput,
  CreatedCardholder,
  ListCardholdersInput,
  RemoveCardholderInput,
} from "./contract/cardholders.ts";
export type {
  CancelCardInput,
  Card,
  CardWithdrawal,
  CreateCardInput,
  FreezeCardInput,
  UpdateCardInput,
  WithdrawFromCardInput,
} from "./contract/cards.ts";
export type { Endpoints } from "./contract/payments-api.ts";
export type { Page, UnreadableRow } from "./contract/answers.ts";
export type { IdempotencyClass } from "./contract/operation-facts.ts";
export type { Payer } from "./contract/payers.ts";
export type {
  CreatePayoutInput,
  ListPayoutsInput,
  Payout,
  RetrievePayoutInput,
} from "./contract/payouts.ts";
export type { Fault } from "./contract/rules.ts";
export { isUnsetTime, readTime, type TimeSpan } from "./contract/times.ts";
export { faultsOf, faultsText, firstFaults } from "./contract/rules.ts";
export type { ListTransactionsInput, Transaction } from "./contract/transactions.ts";
export type { CallOptions, RequestOptions, WithResponse } from "./client/call-options.ts";
export { BeforeSend, IsResend, type PaymentsClientShape } from "./client/client-shape.ts";
export {
  type ClientDispatcher,
  clientSettingNames,
  clientVariables,
  type ClientOptions,
  type ClientSettings,
  defaultClientOptions,
  InvalidSettings,
  makeAssumptions,
  makeClientOptions,
  writtenSettings,
} from "./client/config.ts";
export {
  InvalidRequest,
  NotAuthenticated,
  OutcomeUnknown,
  PaymentsError,
  RateLimited,
  Refused,
  Unavailable,
  UnexpectedAnswer,
} from "./client/errors.ts";
export { didYouMean } from "./contract/rules.ts";
export type { Hooks, RequestEvent, ResponseEvent } from "./client/hooks.ts";
export type { ClientLogger } from "./client/say.ts";
export { listNames, operationNames } from "./client/client-shape.ts";
export type { Input, Item, ListName, OperationName, Output } from "./client/operations.ts";
export { clientOptionsWithEnvironment, PaymentsClient } from "./client/payments-client.ts";
export { createClient, type PromiseClient } from "./client/promise-client.ts";
export { isSensitiveField, redact } from "./client/redact.ts";
export { clientSecondsUntilExpiry, currentApiKey } from "./credentials.ts";
