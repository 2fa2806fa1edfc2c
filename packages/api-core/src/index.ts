export { iso4217Digits } from "./contract/amount-digits.ts";
export { Assumptions, defaultAssumptions } from "./contract/assumptions.ts";
export type { BalanceBankDetails, Balance } from "./contract/balances.ts";
export type { Beneficiary } from "./contract/beneficiaries.ts";
export type { Cardholder } from "./contract/cardholders.ts";
export { type Card, CARD_CURRENCY } from "./contract/cards.ts";
export { Refusal, REFUSAL_CODE, SUCCESS_CODE } from "./contract/envelope.ts";
export type { UnreadableRow } from "./contract/list-page.ts";
export { Idempotency, type IdempotencyClass } from "./contract/operation-facts.ts";
export type { Payer } from "./contract/payers.ts";
export { PaymentsApi } from "./contract/payments-api.ts";
export type { Payout } from "./contract/payouts.ts";
export type { Fault } from "./contract/rules.ts";
export { API_KEY_HEADER, CLIENT_ID_HEADER, SignedIn, TOKEN_HEADER } from "./contract/signed-in.ts";
export { isUnsetTime, readTime, type TimeSpan } from "./contract/times.ts";
export type { Transaction } from "./contract/transactions.ts";
export { fromWire, wireMethod } from "./contract/wire-names.ts";
export { BeforeSend, IsResend, type SignInError, SignInLease } from "./client/client-references.ts";
export { checkInput } from "./client/check-request.ts";
export {
  type ClientOptions,
  type ClientSettings,
  clientOptionsFromEnvironment,
  defaultClientOptions,
  InvalidSettings,
  makeAssumptions,
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
export { type ListPage, ListReading, type PageRead, rowKeys } from "./client/list-reading.ts";
export {
  type Input,
  type Item,
  type ListName,
  listNames,
  operation,
  type OperationName,
  operationNames,
  type Output,
} from "./client/operations.ts";
export { PaymentsClient, type PaymentsClientShape } from "./client/payments-client.ts";
export {
  type CallOptions,
  makePaymentsClient,
  type PromiseClient,
} from "./client/promise-client.ts";
export { redact } from "./client/redact.ts";
