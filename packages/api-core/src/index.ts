export type { Assumptions } from "./contract/assumptions.ts";
export { defaultAssumptions } from "./contract/default-assumptions.ts";
export type * from "./contract/answers.ts";
export type * from "./contract/auth.ts";
export type * from "./contract/balances.ts";
export type * from "./contract/beneficiaries.ts";
export type * from "./contract/cardholders.ts";
export type * from "./contract/cards.ts";
export type * from "./contract/payers.ts";
export type * from "./contract/payments-api.ts";
export type * from "./contract/payouts.ts";
export type * from "./contract/transactions.ts";
export { didYouMean, type Fault, faultsText, firstFaults } from "./contract/faults.ts";
export { isUnsetTime, readTime, type TimeSpan } from "./contract/times.ts";
export type {
  CallOptions,
  ListOptions,
  RequestOptions,
  StreamOptions,
  WithResponse,
} from "./client/call-options.ts";
export { BeforeSend, operationNames, type PaymentsClientShape } from "./client/client-shape.ts";
export type { ClientOptions, ClientSettings } from "./client/config.ts";
export {
  InvalidRequest,
  InvalidSettings,
  isPaymentsError,
  NotAuthenticated,
  OutcomeUnknown,
  type PaymentsError,
  RateLimited,
  Refused,
  Unavailable,
  UnexpectedAnswer,
} from "./client/errors.ts";
export type { ClientLogger } from "./client/say.ts";
export type { Input, Item, OperationName, Output } from "./client/operations.ts";
export { PaymentsClient } from "./client/payments-client.ts";
export { createClient, type PromiseClient } from "./client/promise-client.ts";
export { isSensitiveField, redact } from "./client/redact.ts";
export { Transport } from "./client/transport.ts";
export { clientSecondsUntilExpiry, currentApiKey } from "./credentials.ts";
