/**
 * The client of the payment service with async and await. It is published with the parts of Effect and undici that it
 * needs inside: nothing else has to be installed. The client for Effect is `@durable-payments/client/effect`; errors of both are of the
 * same classes.
 *
 * @module @durable-payments/client
 */
export type * from "./types.ts";
export type { CallOptions, StreamOptions } from "./client/call-options.ts";
export * from "./client/errors.ts";
export { payoutState } from "./contract/payout-state.ts";
export {
  createClient,
  type PromiseClient,
  type PromiseClientSettings as ClientSettings,
} from "./client/promise-client.ts";
