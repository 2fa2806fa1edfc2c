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

/**
 * How a field of an answer repeats one of the request:
 *
 * - `amount`: the same number, however many digits it has and however they are grouped, or with the fee that is shown.
 * - `currency`: the same three letters.
 * - `id`: the same letters and digits; of a UUID with something added, or a part.
 * - `number`: as an id, or a part of it, of a card or an account.
 */
export type EchoKind = "amount" | "currency" | "id" | "number";

/** A field of an answer that repeats one of the request. */
export interface Echo {
  readonly as: EchoKind;
  /** Where the answer has it; by default under the name of the request's field. */
  readonly shownAs?: ReadonlyArray<string>;
}

/**
 * Which fields of its request the answer of a write repeats, by the request's names. Which of them the service
 * repeats is the assumption `echoedFields`.
 */
export const Echoes = Context.Reference<Readonly<Record<string, Echo>>>(
  "@durable-payments/api-core/Echoes",
  { defaultValue: () => ({}) },
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
