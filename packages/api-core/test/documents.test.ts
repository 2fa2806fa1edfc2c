import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { operationNames } from "../src/client/client-shape.ts";
import { operation } from "../src/client/operations.ts";
import { assumptionsPage } from "./support/assumptions-table.ts";
import { openApiDocument } from "./support/openapi-document.ts";

const textOf = (path: string) => readFile(new URL(path, import.meta.url), "utf8");

it.each([
  ["../openapi.json", openApiDocument],
  ["../../../docs/assumptions.md", assumptionsPage],
])(
  "%s is what the contract says (vitest -u renews it)",
  async (file, made) => {
    await expect(made()).toMatchFileSnapshot(file);
  },
  // TypeScript reads the docstrings.
  120_000,
);

it("the page of the client lists every operation with its class", async () => {
  const rows = [
    ...(await textOf("../../../docs/client.md")).matchAll(
      /^\| `(\w+)` +\| (`\w+`(?:, `\w+`)*) +\|/gm,
    ),
  ];
  const listed = rows.flatMap(([, idempotency, names = ""]) =>
    [...names.matchAll(/\w+/g)].map(([name]) => [name, idempotency]),
  );
  expect(Object.fromEntries(listed)).toEqual(
    Object.fromEntries(operationNames.map((name) => [name, operation(name).idempotency])),
  );
});

interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string;
            readonly summary: string;
            readonly description: string;
            readonly requestBody?: object;
            readonly responses: Readonly<Record<string, object>>;
            readonly "x-idempotency": string;
            readonly security: ReadonlyArray<Readonly<Record<string, unknown>>>;
            readonly parameters: ReadonlyArray<{
              readonly name: string;
              readonly in: string;
              readonly schema: object;
            }>;
          }
        >
      >
    >
  >;
  readonly components: { readonly securitySchemes: object };
}

/** What is around the data of every answer. */
const ENVELOPE = new Set(["code", "message", "data"]);

describe("the OpenAPI document", () => {
  const operations = async () => {
    const document = JSON.parse(await textOf("../openapi.json")) as OpenApi;
    return Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => ({ path, method, ...described })),
    );
  };

  it("has the 21 operations under the names, methods and paths of the contract", async () => {
    const listed = await operations();
    expect(listed).toHaveLength(21);
    expect(new Set(listed.map(({ operationId }) => operationId))).toStrictEqual(
      new Set(["signIn", ...operationNames]),
    );
    expect(listed.find(({ operationId }) => operationId === "updateBeneficiary")).toMatchObject({
      method: "post",
      path: "/api/v1/beneficiaries/{beneficiary_id}/update",
    });
  });

  it("says of each how it may be repeated", async () => {
    const classes = {
      safe: [
        "signIn",
        "ping",
        "retrieveBeneficiary",
        "listPayouts",
        "retrievePayout",
        "listPayers",
        "retrieveBalance",
        "retrieveBalanceBankDetails",
        "listTransactions",
        "listCardholders",
      ],
      idempotent: [
        "updateBeneficiary",
        "removeCardholder",
        "updateCard",
        "cancelCard",
        "freezeCard",
        "createBalance",
      ],
      keyed: ["createCard", "withdrawFromCard"],
      none: ["createPayout", "createCardholder", "createBeneficiary"],
    };
    for (const described of await operations()) {
      const idempotency = described["x-idempotency"];
      expect(classes[idempotency as keyof typeof classes]).toContain(described.operationId);
      expect(idempotency).toBe(operation(described.operationId as "ping").idempotency);
    }
    expect(Object.values(classes).flat()).toHaveLength(21);
  });

  it("shows the headers of the session, and those of the sign-in", async () => {
    const document = JSON.parse(await textOf("../openapi.json")) as OpenApi;
    expect(document.components.securitySchemes).toMatchObject({
      clientId: { type: "apiKey", in: "header", name: "x-client-id" },
      token: { type: "apiKey", in: "header", name: "x-auth-token" },
    });
    for (const { operationId, parameters, security } of await operations()) {
      const isSignIn = operationId === "signIn";
      expect(security).toStrictEqual(isSignIn ? [] : [{ clientId: [], token: [] }]);
      expect(
        parameters.filter((parameter) => parameter.in === "header").map(({ name }) => name),
      ).toStrictEqual(isSignIn ? ["x-client-id", "x-api-key"] : []);
    }
  });

  it("describes every operation, parameter and field, as the contract's docstrings do", async () => {
    const undescribed = (value: unknown, path: string): ReadonlyArray<string> =>
      typeof value !== "object" || value === null
        ? []
        : Object.entries(value).flatMap(([key, inner]: [string, unknown]) => [
            ...(key === "properties" ? withoutDescription(inner as object, path) : []),
            ...undescribed(inner, path),
          ]);
    const withoutDescription = (properties: object, path: string): ReadonlyArray<string> =>
      Object.entries(properties).flatMap(([name, schema]: [string, object]) =>
        "description" in schema || ENVELOPE.has(name) ? [] : [`${path} ${name}`],
      );
    const listed = (await operations()).filter(({ operationId }) => operationId !== "signIn");
    for (const described of listed) {
      const { description, parameters, requestBody, responses, summary } = described;
      expect(description).toContain(`Idempotency class \`${described["x-idempotency"]}\``);
      expect(description.startsWith(summary)).toBe(true);
      expect(parameters.filter((parameter) => !("description" in parameter))).toStrictEqual([]);
      expect(undescribed([requestBody, responses["200"]], described.operationId)).toStrictEqual([]);
    }
    const { requestBody } = listed.find(({ operationId }) => operationId === "createCard") ?? {};
    expect(JSON.stringify(requestBody)).toContain("Initial recharge in USD");
  });

  it("states limits, numbers in queries, and answers open to more fields", async () => {
    const listed = await operations();
    const { parameters = [] } =
      listed.find(({ operationId }) => operationId === "listTransactions") ?? {};
    expect(parameters.find(({ name }) => name === "page_size")?.schema).toStrictEqual({
      type: "integer",
      minimum: 1,
      maximum: 100,
    });
    const text = await textOf("../openapi.json");
    const requests = text.match(/"additionalProperties": false/g) ?? [];
    expect(requests).toHaveLength(listed.filter((described) => "requestBody" in described).length);
  });
});
