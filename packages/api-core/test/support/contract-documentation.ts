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

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.NodeNext,
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  skipLibCheck: true,
};

/** Open what a module of the contract exports under a name: its members, and what docstrings say. */
const open = (path: string, name: string) => {
  const file = fileURLToPath(new URL(path, import.meta.url));
  const program = ts.createProgram([file], OPTIONS);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  const found = module && checker.getExportsOfModule(module).find((named) => named.name === name);
  if (found === undefined) throw new Error(`${file} exports no ${name}`);

  /** Paragraphs without the breaks of their lines. */
  const textOf = (symbol: ts.Symbol): string =>
    ts
      .displayPartsToString(symbol.getDocumentationComment(checker))
      .replaceAll(/(?<!\n)\n(?!\n)/g, " ");

  const isValue = (found.flags & ts.SymbolFlags.Variable) !== 0;
  const type = isValue ? checker.getTypeOfSymbol(found) : checker.getDeclaredTypeOfSymbol(found);
  return { checker, members: type.getProperties(), textOf };
};

const readMembers = (path: string, name: string): ReadonlyMap<string, string> => {
  const { members, textOf } = open(path, name);
  return new Map(members.map((member) => [member.name, textOf(member)]));
};

/** Read the docstrings of the assumptions, by their names. */
export const readAssumptions = () =>
  readMembers("../../src/contract/assumptions.ts", "Assumptions");

/** Read the docstrings of the classes of responses, by their names. */
export const readOutcomes = () => readMembers("../../src/client/outcomes.ts", "OUTCOMES");

/** Read the docstrings of all operations but signIn, and of their fields. */
export const readDocumentation = (): ReadonlyMap<string, Documentation> => {
  const { checker, members, textOf } = open("../../src/contract/payments-api.ts", "Endpoints");

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
    members.map((operation) => {
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
