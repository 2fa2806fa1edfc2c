import * as Context from "effect/Context";
import * as Schema from "effect/Schema";
import * as HttpApi from "effect/http-api/HttpApi";
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint";
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup";
import type * as OpenApi from "effect/http-api/OpenApi";
import { isRecord } from "../../src/values.ts";
import { defaultAssumptions } from "../../src/contract/default-assumptions.ts";
import {
  CLIENT_ID_HEADER,
  Idempotency,
  SignedIn,
  TOKEN_HEADER,
} from "../../src/contract/operation-facts.ts";
import { assumedNames } from "../../src/contract/wire-names.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** The document as far as it is changed here; a path's members are its methods. */
interface Spec {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApi.OpenAPISpecOperation>>>>;
  readonly components: object;
}

const SIGNED_IN = [{ clientId: [], token: [] }];

const securitySchemes = {
  clientId: { type: "apiKey", in: "header", name: CLIENT_ID_HEADER },
  token: {
    type: "apiKey",
    in: "header",
    name: TOKEN_HEADER,
    description: "`Bearer <token>`, with the token that signIn returned.",
  },
};

/** A query by its values, numbers as numbers: on the wire all are texts. */
const valuesOf = (query: Schema.Top | undefined): Readonly<Record<string, JsonSchema>> => {
  if (query === undefined) return {};
  const { properties } = Schema.toJsonSchemaDocument(Schema.toType(query)).schema;
  // A struct's document has one schema per property.
  return properties as Readonly<Record<string, JsonSchema>>;
};

const mapValues = <A, B>(
  record: Readonly<Record<string, A>>,
  change: (value: A) => B,
): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

/** Whether a schema takes anything, as that of a row which cannot be read does. */
const takesAnything = (schema: unknown): boolean =>
  isRecord(schema) && Object.keys(schema).length === 0;

/** An answer may carry fields and rows that the document does not have; they are ignored. */
const open = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(open);
  if (!isRecord(schema)) return schema;
  const { anyOf } = schema;
  if (Array.isArray(anyOf) && anyOf.some(takesAnything)) {
    const documented: ReadonlyArray<unknown> = anyOf.filter((one) => !takesAnything(one));
    return open(documented.length === 1 ? documented[0] : { anyOf: documented });
  }
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => key !== "additionalProperties" || value !== false)
      .map(([key, value]) => [key, open(value)]),
  );
};

/**
 * Adds to the OpenAPI document what the generator does not see: the headers of a session, how each
 * operation may be repeated (`x-idempotency`), numbers in queries, filters by the names as which they
 * are sent, and answers open to more fields.
 */
export const describeOperations = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
) => {
  const endpoints = new Map<string, HttpApiEndpoint.Top>();
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => endpoints.set(endpoint.identifier, endpoint),
  });
  return (given: Record<string, unknown>): Record<string, unknown> => {
    // The document of the generator.
    const spec = given as unknown as Spec;
    const describe = (operation: OpenApi.OpenAPISpecOperation) => {
      const endpoint = endpoints.get(operation.operationId ?? "");
      // A server may add operations that the contract does not have.
      if (endpoint === undefined) return operation;
      const values = valuesOf(endpoint.query);
      const names = assumedNames(endpoint.identifier, defaultAssumptions) ?? {};
      return {
        ...operation,
        "x-idempotency": Context.get(endpoint.annotations, Idempotency),
        security: [...endpoint.middlewares].some(({ key }) => key === SignedIn.key)
          ? SIGNED_IN
          : [],
        parameters: operation.parameters.map((parameter) => ({
          ...parameter,
          name: names[parameter.name] ?? parameter.name,
          schema: values[parameter.name] ?? parameter.schema,
        })),
        responses: open(operation.responses),
      };
    };
    return {
      ...spec,
      paths: mapValues(spec.paths, (methods) => mapValues(methods, describe)),
      components: { ...spec.components, securitySchemes },
    };
  };
};
