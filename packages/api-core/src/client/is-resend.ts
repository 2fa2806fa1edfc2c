import { Context } from "effect";

/**
 * Whether a call repeats a request that an earlier call, of any process, may have sent with the same
 * `unique_request_id`: then a refusal that speaks of a known key leaves the outcome unknown. By
 * default it does not, and such words of a first send are a refusal like any other. Provide `true`
 * to the effect of such a call.
 */
export const IsResend = Context.Reference<boolean>("@durable-payments/api-core/IsResend", {
  defaultValue: () => false,
});
