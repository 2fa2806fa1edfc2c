import { fileURLToPath } from "node:url";
import ts from "typescript";

/** What the docstrings of the contract say of an operation. */
export interface Documentation {
  readonly description: string;
  /** Of the fields of its request, by their names in the contract. */
  readonly request: ReadonlyMap<string, string>;
  /** Of the fields of its answer, and of what is in them. */
  readonly answer: ReadonlyMap<string, string>;
}

const endpoints = fileURLToPath(new URL("../src/contract/endpoints.ts", import.meta.url));

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.NodeNext,
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  skipLibCheck: true,
};

/** Read the docstrings of all operations but signIn, and of their fields. */
export const readDocumentation = (): ReadonlyMap<string, Documentation> => {
  const program = ts.createProgram([endpoints], OPTIONS);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(endpoints);
  const module = source && checker.getSymbolAtLocation(source);
  const found =
    module && checker.getExportsOfModule(module).find(({ name }) => name === "Endpoints");
  if (found === undefined) throw new Error(`${endpoints} exports no Endpoints`);

  /** Paragraphs without the breaks of their lines. */
  const textOf = (symbol: ts.Symbol): string =>
    ts
      .displayPartsToString(symbol.getDocumentationComment(checker))
      .replaceAll(/(?<!\n)\n(?!\n)/g, " ");

  const typeOf = (type: ts.Type, ...path: ReadonlyArray<string>): ts.Type | undefined => {
    const [name, ...rest] = path;
    if (name === undefined) return type;
    const member = type.getProperty(name);
    return member && typeOf(checker.getTypeOfSymbol(member), ...rest);
  };

  /** The fields of what is in a field come before it: of two with one name, the outer one stands. */
  const fieldsOf = (type: ts.Type | undefined): ReadonlyArray<readonly [string, string]> => {
    if (type === undefined) return [];
    const value = checker.getNonNullableType(type);
    const item =
      checker.isArrayLikeType(value) && checker.getIndexTypeOfType(value, ts.IndexKind.Number);
    if (item) return fieldsOf(item);
    if ((value.flags & ts.TypeFlags.Object) === 0) return [];
    const fields = value.getProperties();
    return [
      ...fields.flatMap((field) => fieldsOf(checker.getTypeOfSymbol(field))),
      ...fields.map((field) => [field.name, textOf(field)] as const),
    ];
  };

  return new Map(
    checker
      .getDeclaredTypeOfSymbol(found)
      .getProperties()
      .map((operation) => {
        const endpoint = checker.getTypeOfSymbol(operation);
        const parts = ["~Params", "~Query", "~Payload"];
        return [
          operation.name,
          {
            description: textOf(operation),
            request: new Map(parts.flatMap((part) => fieldsOf(typeOf(endpoint, part, "Type")))),
            answer: new Map(fieldsOf(typeOf(endpoint, "~Success", "Type"))),
          },
        ];
      }),
  );
};
