import * as HttpApiGroup from "effect/http-api/HttpApiGroup";
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint";

/** Endpoints by their names: what documents a member documents the client's method. */
type NamedEndpoints<Endpoints> = {
  readonly [Name in keyof Endpoints]: HttpApiEndpoint.Constraint & { readonly identifier: Name };
};

/** A group of these endpoints, whose methods stand on a client itself. */
export const endpointGroup = <const Id extends string, Endpoints extends NamedEndpoints<Endpoints>>(
  id: Id,
  endpoints: Endpoints,
) => {
  type Endpoint = Endpoints[keyof Endpoints];
  return HttpApiGroup.make(id, { topLevel: true }).add(
    // No resource is without operations.
    ...(Object.values(endpoints) as unknown as readonly [Endpoint, ...ReadonlyArray<Endpoint>]),
  );
};
