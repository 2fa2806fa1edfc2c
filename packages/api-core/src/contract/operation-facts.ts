import * as Context from "effect/Context";

/**
 * How an operation may be sent again after a send without a valid response:
 *
 * - `safe`: reads; send again.
 * - `idempotent`: sending twice leaves the same state as sending once; send again.
 * - `keyed`: the service ignores a repeated `unique_request_id`; send again with the same key only.
 * - `none`: a second send is a second payment, cardholder or beneficiary; reconcile first.
 */
export type IdempotencyClass = "safe" | "idempotent" | "keyed" | "none";

/** The operation's {@link IdempotencyClass}; the strictest unless an endpoint says otherwise. */
export const Idempotency = Context.Reference<IdempotencyClass>(
  "@durable-payments/api-core/Idempotency",
  { defaultValue: () => "none" },
);

/** The largest page of a list, or undefined for an operation that is not paged. */
export const MaxPageSize = Context.Reference<number | undefined>(
  "@durable-payments/api-core/MaxPageSize",
  { defaultValue: () => undefined },
);

/** The field that identifies a listed item, so that a stream over shifting pages shows it once. */
export const ItemId = Context.Reference<string | undefined>("@durable-payments/api-core/ItemId", {
  defaultValue: () => undefined,
});
