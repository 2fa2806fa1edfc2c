import * as Context from "effect/Context";
import * as Schema from "effect/Schema";
import * as SchemaAST from "effect/SchemaAST";
import * as HttpApi from "effect/http-api/HttpApi";
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint";
import type { UpdateBeneficiaryInput } from "../contract/beneficiaries.ts";
import { type Endpoints, PaymentsApi } from "../contract/payments-api.ts";
import { Idempotency, Paged, SignedIn } from "../contract/operation-facts.ts";
import { type Page, readerOf } from "../contract/answers.ts";
import { rulesOf } from "../contract/rules.ts";

/** Name of an operation: endpoint, operationId, activity type, span and metric label alike. */
export type OperationName = keyof Endpoints;

/** The only part of a request that has fields is the whole of it, and keeps its name. */
type Part<T> = [T] extends [never] ? {} : [keyof T] extends [never] ? {} : T;

/** Fields of path, query and body of an operation, in one object. */
export type Input<Name extends OperationName> = Name extends "updateBeneficiary"
  ? UpdateBeneficiaryInput
  : Part<Endpoints[Name]["~Params"]["Type"]> &
      Part<Endpoints[Name]["~Query"]["Type"]> &
      Part<Endpoints[Name]["~Payload"]["Type"]>;

/** The answer of an operation: the data of the envelope, as plain JSON. */
export type Output<Name extends OperationName> = Endpoints[Name]["~Success"]["Type"];

/** Names of the operations that change nothing. */
export type ReadName = Extract<OperationName, "ping" | `list${string}` | `retrieve${string}`>;

/** Names of the operations that answer page by page. */
export type ListName = {
  [Name in OperationName]: Output<Name> extends Page<unknown> ? Name : never;
}[OperationName];

/** One item of a list. */
export type Item<Name extends ListName> = Output<Name>["item_list"][number];

/** A part of a request. */
export type RequestPart = NonNullable<ReturnType<typeof part>>;

/** The facts of an operation, read from the contract. */
export type Operation = ReturnType<typeof operationOf>;

const part = (schema: Schema.Top | undefined) =>
  schema && {
    /** Checks and encodes its fields. The contract's request schemas need no services. */
    encode: Schema.encodeUnknownResult(schema as Schema.Codec<unknown, unknown>, { errors: "all" }),
    fields: SchemaAST.isObjects(schema.ast)
      ? schema.ast.propertySignatures.map((property) => String(property.name))
      : [],
    rules: rulesOf(schema),
  };

const operationOf = (endpoint: HttpApiEndpoint.Top) => {
  const [success] = endpoint.success;
  if (success === undefined) throw new Error(`${endpoint.identifier} declares no answer`);
  const [params, query, payload] = [
    endpoint.params,
    endpoint.query,
    [...endpoint.payload.values()][0]?.schemas[0],
  ].map(part);
  return {
    name: endpoint.identifier,
    method: endpoint.method,
    path: endpoint.path,
    /** The path for people: `/api/v1/payouts/{payout_id}/retrieve`. */
    template: endpoint.path.replace(/:(\w+)/g, "{$1}"),
    idempotency: Context.get(endpoint.annotations, Idempotency),
    paging: Context.get(endpoint.annotations, Paged),
    signedIn: [...endpoint.middlewares].some((middleware) => middleware.key === SignedIn.key),
    enveloped: endpoint.identifier !== "ping",
    params,
    query,
    payload,
    /** The names of all fields of path, query and body. */
    fields: new Set([params, query, payload].flatMap((one) => one?.fields ?? [])),
    /** Reads the data of a success (of ping, the whole body). The contract's answer schemas need no services. */
    read: readerOf(success as Schema.Codec<unknown, unknown>),
  };
};

const all = new Map<string, Operation>();
HttpApi.reflect(PaymentsApi, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint }) => all.set(endpoint.identifier, operationOf(endpoint)),
});

/**
 * Returns what the contract says of an operation: its idempotency, its path, the parts of its request.
 *
 * @throws Error if the contract does not have the operation
 */
export const operation = (name: OperationName | "signIn"): Operation => {
  const found = all.get(name);
  if (found === undefined) throw new Error(`The contract has no operation ${name}`);
  return found;
};
