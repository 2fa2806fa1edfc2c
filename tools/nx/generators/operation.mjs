import { names } from "@nx/devkit";
import { append, insertBefore } from "./insert.mjs";

const CLASSES = {
  safe: "it changes nothing, and is sent again after a lost answer",
  idempotent: "sent twice it leaves things as sent once; it is sent again after a lost answer",
  none: "it is never sent again blindly; after a lost answer it has to be looked up whether it was carried out",
};

const schema = (name, className) => `const ${name}Fields = {
  /** What it is about: the service's id of it. */
  id: text(),
};

/** Fields of ${name}. */
export interface ${className}Input extends Schema.Struct.Type<typeof ${name}Fields> {}

/** Schema of {@link ${className}Input}. */
export class ${className}InputSchema extends Schema.Opaque<${className}Input>()(
  Schema.Struct(${name}Fields),
) {}

`;

const endpoint = (name, className, path, repeats) => `
  /**
   * Say what it does, in one sentence.
   *
   * Idempotency class \`${repeats}\`: ${CLASSES[repeats]}.
   *
   * @example
   * await client.${name}({ id: "id-1" });
   */
  ${name}: HttpApiEndpoint.post("${name}", "${path}", {
    payload: ${className}InputSchema,
    success: confirmed,
    error: Refusal,
  }).annotate(Idempotency, "${repeats}"),`;

const wire = (name, path) => `
describe("${name}", () => {
  it("sends its request", async () => {
    const { sent } = await exchange("${name}", { id: "id-1" }, success());
    expect(sent).toMatchObject({ method: "POST", path: "${path}" });
    expect(JSON.parse(sent.body)).toStrictEqual({ id: "id-1" });
  });
});
`;

/** The tests of the wire format, by resource. */
const WIRE_TESTS = {
  balances: "payers-and-balances",
  beneficiaries: "beneficiaries",
  cardholders: "transactions-and-cardholders",
  cards: "cards",
};

/** Add an operation of the service, as CONTRIBUTING.md says. */
export default function operation(tree, { class: repeats = "none", name, path, resource }) {
  const { className } = names(name);
  const contract = `packages/api-core/src/contract/${resource}.ts`;
  insertBefore(tree, contract, "/** Source: service interface", schema(name, className));
  insertBefore(tree, contract, "\n};", endpoint(name, className, path, repeats));
  insertBefore(
    tree,
    "packages/api-core/src/client/operation-names.ts",
    "\n};",
    `\n  ${name}: false,`,
  );
  insertBefore(
    tree,
    `packages/simulator/src/service/${resource}.ts`,
    "\n    });\n  }),\n);",
    `\n      // What it changes in the ledger stands here.\n      ${name}: () => confirm(store, () => undefined),`,
  );
  const from = `from "./contract/${resource}.ts";\n`;
  append(tree, "packages/api-core/src/contract.ts", `export { ${className}InputSchema } ${from}`);
  append(tree, "packages/api-core/src/index.ts", `export type { ${className}Input } ${from}`);
  insertBefore(
    tree,
    "packages/api-core/test/support/responses.ts",
    "\n};",
    `\n  ${name}: success(),`,
  );
  insertBefore(
    tree,
    "packages/api-core/test/requests/lengths-and-required.test.ts",
    "\n  ping: [],",
    `\n  ${name}: [["id"]],`,
  );
  insertBefore(
    tree,
    "packages/api-core/test/support/requests.ts",
    "\n}",
    `\n  ${name}: { id: "id-1" },`,
  );
  append(tree, `packages/api-core/test/wire/${WIRE_TESTS[resource]}.test.ts`, wire(name, path));
  return () => {
    console.log(`
Made the operation ${name}. What is left, as CONTRIBUTING.md says:
  - its fields, its docstring and its answer (${contract}), and what it does in the simulator
  - npx nx run @durable-payments/api-core:openapi, npm run api, npm run plan`);
  };
}
