import { Context } from "effect";

/**
 * How an operation may be repeated after a send that brought no valid answer:
 *
 * - `safe`: reads; send again.
 * - `convergent`: sending twice ends in the same state as sending once; send again.
 * - `keyed`: the service ignores a repeated `unique_request_id`; send again with the same key only.
 * - `once`: a second send is a second payment, cardholder or beneficiary; look it up first.
 */
export type RepeatClass = "safe" | "convergent" | "keyed" | "once";

/** The operation's {@link RepeatClass}; the strictest unless an endpoint says otherwise. */
export const Repeat = Context.Reference<RepeatClass>("@durable-payments/api-core/Repeat", {
  defaultValue: () => "once",
});

/** The largest page of a list, or undefined for an operation that is not paged. */
export const MaxPageSize = Context.Reference<number | undefined>(
  "@durable-payments/api-core/MaxPageSize",
  { defaultValue: () => undefined },
);

/** Where an answer identifies a listed item, so that a stream over shifting pages shows it once. */
export const ItemId = Context.Reference<string | undefined>("@durable-payments/api-core/ItemId", {
  defaultValue: () => undefined,
});
