/**
 * The client of the payment service. It needs neither Temporal nor a ledger.
 *
 * @module durable-payments
 */
export {
  BeforeSend,
  type Balance,
  type Beneficiary,
  type CallOptions,
  type Card,
  type Cardholder,
  type ClientSettings,
  type CreatedCardholder,
  type Input,
  InvalidRequest,
  InvalidSettings,
  createClient,
  NotAuthenticated,
  type OperationName,
  OutcomeUnknown,
  type Output,
  type Page,
  type Payer,
  PaymentsClient,
  type PaymentsError,
  type Payout,
  type PromiseClient,
  RateLimited,
  Refused,
  type Transaction,
  Unavailable,
  UnexpectedAnswer,
  type WithResponse,
} from "@durable-payments/client";
