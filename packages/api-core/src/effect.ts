/**
 * The client of the payment service for Effect, with layers for settings, `Config` and tests. Further exports are the
 * terms for requests and times that the packages of this repository share. It needs `effect` and `undici`.
 *
 * @module @durable-payments/client/effect
 */
export type * from "./types.ts";
export { defaultAssumptions } from "./contract/default-assumptions.ts";
export { didYouMean, faultsText, firstFaults } from "./contract/faults.ts";
export { inWindow, type ListWindow, WINDOW_EDGE_MS } from "./contract/list-window.ts";
export { isOneOf, listedMeaning, payoutState } from "./contract/payout-state.ts";
export type { Endpoints } from "./contract/payments-api.ts";
export { isUnsetTime, readTime, type TimeSpan } from "./contract/times.ts";
export type { ListOptions, RequestOptions } from "./client/call-options.ts";
export { BeforeSend, operationNames, type PaymentsClientShape } from "./client/client-shape.ts";
export type { ClientOptions } from "./client/config.ts";
export * from "./client/errors.ts";
export { PaymentsClient } from "./client/payments-client.ts";
export { isSensitiveField, redact } from "./client/redact.ts";
export { NoResponse } from "./client/no-response.ts";
export type { Transport, WireRequest, WireResponse } from "./client/send.ts";
export { clientSecondsUntilExpiry, currentApiKey } from "./credentials.ts";
