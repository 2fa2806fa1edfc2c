import { join } from "node:path";
import {
  ChainNodeParser,
  Context,
  createFormatter,
  createParser,
  createProgram,
  DEFAULT_CONFIG,
  SchemaGenerator,
} from "ts-json-schema-generator";
import ts from "typescript";

const folder = join(import.meta.dirname, "../..");

/** Whole, and without the name of its alias, which would be found again. */
const WRITTEN_OUT = ts.NodeBuilderFlags.NoTruncation | ts.NodeBuilderFlags.InTypeAlias;

const ID =
  "https://raw.githubusercontent.com/durable-payments/durable-payments/main/docs/json-output.schema.json";

/**
 * Returns docs/json-output.schema.json: one definition for each command, and one for each type that they use.
 *
 * Many types are those of values: `Awaited<ReturnType<typeof readInbox>>`. The generator knows none of them, so the compiler
 * writes them out.
 */
export const jsonSchema = (): string => {
  const config = {
    ...DEFAULT_CONFIG,
    path: join(folder, "test/support/json-output.ts"),
    tsconfig: join(folder, "tsconfig.spec.json"),
    type: "JsonOutput",
    skipTypeCheck: true,
    topRef: false,
  };
  const program = createProgram(config);
  const checker = program.getTypeChecker();
  const parser = createParser(program, config, (chain) => {
    if (!(chain instanceof ChainNodeParser)) throw new Error("The generator has another parser.");
    chain.addNodeParser({
      supportsNode: (node) =>
        ts.isTypeReferenceNode(node) && node.pos >= 0 && node.getText().includes("typeof "),
      createType: (node) => {
        const type = checker.getTypeAtLocation(node);
        const written = checker.typeToTypeNode(type, undefined, WRITTEN_OUT);
        if (written === undefined) throw new Error(`No type can be written of ${node.getText()}`);
        return chain.createType(written, new Context(node));
      },
    });
  });
  const generator = new SchemaGenerator(program, parser, createFormatter(config), config);
  const { definitions, properties } = generator.createSchema("JsonOutput");
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    $id: ID,
    title: "Answers of the command durable-payments with --json, by command",
    definitions: { ...properties, ...definitions },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
};
