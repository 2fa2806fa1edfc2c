import * as Context from "effect/Context";
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint";
import * as HttpApiGroup from "effect/http-api/HttpApiGroup";
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware";
import { Refusal } from "./answers.ts";

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
  "@durable-payments/client/Idempotency",
  { defaultValue: () => "none" },
);

/** Facts of a list that is answered page by page. */
export interface Paging {
  /** The largest page. */
  readonly maxPageSize: number;
  /** The field that identifies an item, so that a stream over shifting pages shows it once. */
  readonly itemId: string;
}

/** The operation's {@link Paging}; undefined unless it is paged. */
export const Paged = Context.Reference<Paging | undefined>("@durable-payments/client/Paged", {
  defaultValue: () => undefined,
});

/** Endpoints by their names: what documents a member documents the client's method. */
type NamedEndpoints<Endpoints> = {
  readonly [Name in keyof Endpoints]: HttpApiEndpoint.Constraint & { readonly identifier: Name };
};

/** Returns a group of these endpoints, below the path of the service's version; its methods are those of a client itself. */
export const endpointGroup = <const Id extends string, Endpoints extends NamedEndpoints<Endpoints>>(
  id: Id,
  endpoints: Endpoints,
) => {
  type Endpoint = Endpoints[keyof Endpoints];
  return HttpApiGroup.make(id, { topLevel: true })
    .add(
      // Every resource has operations.
      ...(Object.values(endpoints) as unknown as readonly [Endpoint, ...ReadonlyArray<Endpoint>]),
    )
    .prefix("/api/v1");
};

/** Header that carries the client's id on every request. */
export const CLIENT_ID_HEADER = "x-client-id";

/** Header that carries the API key, on sign-in only. */
export const API_KEY_HEADER = "x-api-key";

/** Header that carries `Bearer <token>` on every request but sign-in. */
export const TOKEN_HEADER = "x-auth-token";

/**
 * Marks the operations that need {@link CLIENT_ID_HEADER} and {@link TOKEN_HEADER}. A server
 * implements it by checking both; the client itself sends them.
 */
export class SignedIn extends HttpApiMiddleware.Service<SignedIn>()(
  "@durable-payments/client/SignedIn",
  { error: Refusal },
) {}
