import { OpenApi } from "effect/http-api";
import { PaymentsApi } from "../../src/contract.ts";
import { defaultAssumptions } from "../../src/contract/default-assumptions.ts";
import { payoutNames } from "../../src/contract/payouts.ts";
import { assumedNames } from "../../src/contract/wire-names.ts";
import type { OperationName } from "../../src/effect.ts";
import { isRecord, lookUp } from "../../src/values.ts";
import { type Documentation, readDocumentation } from "./contract-documentation.ts";
import { describeOperations } from "./describe-operations.ts";

const DocumentedApi = PaymentsApi.annotateMerge(
  OpenApi.annotations({
    title: "Business account, payout and card service",
    version: "1",
    description:
      "As described in its interface document. Names that the document leaves open are the " +
      "defaults of the client's assumptions.",
    transform: describeOperations(PaymentsApi),
  }),
);

type Descriptions = ReadonlyMap<string, string>;
type Names = Readonly<Record<string, string>>;

/** The same descriptions by the names on the wire. */
const onTheWire = (descriptions: Descriptions, names: Names = {}): Descriptions =>
  new Map([...descriptions].map(([name, description]) => [names[name] ?? name, description]));

/** A schema with a description for each property, and for each of what is in it. */
const describeProperties = (schema: unknown, descriptions: Descriptions): unknown => {
  if (Array.isArray(schema)) return schema.map((one) => describeProperties(one, descriptions));
  if (!isRecord(schema)) return schema;
  const described = Object.entries(schema).map(([key, value]) => {
    const inner = describeProperties(value, descriptions);
    return [
      key,
      key === "properties" && isRecord(inner) ? describeEach(inner, descriptions) : inner,
    ];
  });
  return Object.fromEntries(described) as unknown;
};

const describeEach = (properties: Readonly<Record<string, unknown>>, descriptions: Descriptions) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const description = descriptions.get(name);
      const isDescribed = description !== undefined && isRecord(property);
      return [name, isDescribed ? { description, ...property } : property];
    }),
  );

/** An operation with what the contract's docstrings say of it and of its fields. */
const describeOperation = (
  described: OpenApi.OpenAPISpecOperation,
  name: OperationName,
  { answer, description, request }: Documentation,
) => {
  const sent = onTheWire(request, assumedNames(name, defaultAssumptions));
  const answered = onTheWire(answer, lookUp<Names>(payoutNames, name));
  const { 200: success, ...refusals } = described.responses;
  return {
    summary: /^[^.]+\./.exec(description)?.[0] ?? description,
    description,
    ...described,
    parameters: described.parameters.map((parameter) => ({
      ...parameter,
      description: sent.get(parameter.name),
    })),
    ...("requestBody" in described && {
      requestBody: describeProperties(described.requestBody, sent),
    }),
    responses: { 200: describeProperties(success, answered), ...refusals },
  };
};

const makeDocument = () => {
  const spec = OpenApi.fromApi(DocumentedApi);
  const documentation = readDocumentation();
  const describe = (described: OpenApi.OpenAPISpecOperation) => {
    const documented = documentation.get(described.operationId);
    // What is documented is an operation of the contract.
    const name = described.operationId as OperationName;
    return documented === undefined ? described : describeOperation(described, name, documented);
  };
  const paths = Object.entries(spec.paths).map(([path, methods]) => {
    // A path's members are its methods here.
    const operations = Object.entries(methods as Record<string, OpenApi.OpenAPISpecOperation>);
    return [
      path,
      Object.fromEntries(operations.map(([method, operation]) => [method, describe(operation)])),
    ];
  });
  return { ...spec, paths: Object.fromEntries(paths) as unknown };
};

/** The OpenAPI document of the contract, with what its docstrings say. */
export const openApiDocument = (): string => `${JSON.stringify(makeDocument(), null, 2)}\n`;
