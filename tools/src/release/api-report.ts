import { createHash } from "node:crypto";
import ts from "typescript";

/** A package whose declarations are built. */
interface BuiltPackage {
  readonly name: string;
  /** An absolute path, as are the declarations of its entries. */
  readonly folder: string;
  readonly entries: ReadonlyArray<{ readonly name: string; readonly declarations: string }>;
}

/** Longer inferred types are shown by their hash: no reader compares 200 kB. */
const LONGEST = 10_000;

/**
 * Reads the declarations of a build.
 *
 * @param files their paths
 * @throws an error that names the file that is missing
 */
export const readDeclarations = (files: ReadonlyArray<string>): ts.Program => {
  const missing = files.find((file) => !ts.sys.fileExists(file));
  if (missing !== undefined) throw new Error(`${missing} is missing: run "npm run build"`);
  return ts.createProgram(files, {
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    types: ["node"],
  });
};

/**
 * Writes what a user of a package can see in types: of each entry the exported names, and every declaration that they
 * lead to, without comments. A change of the text is a change of the public surface.
 *
 * @param program that has read the declarations of the entries
 */
export const apiReport = (program: ts.Program, { entries, folder, name }: BuiltPackage): string => {
  const checker = program.getTypeChecker();
  const texts = new Map<ts.Statement, string>();

  /** Adds the declarations of a symbol within the package, and those that they lead to. */
  const add = (symbol: ts.Symbol): void => {
    const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
    const { declarations = [] } = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
    for (const statement of declarations.flatMap(statementOf)) {
      const { fileName } = statement.getSourceFile();
      const isOwn = fileName.startsWith(`${folder}/`) && !fileName.includes("/node_modules/");
      if (!isOwn || texts.has(statement)) continue;
      texts.set(statement, textOf(statement));
      visit(statement);
    }
  };
  const visit = (node: ts.Node): void => {
    const symbol = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
    if (symbol !== undefined) add(symbol);
    ts.forEachChild(node, visit);
  };

  let count = 0;
  const exported = entries.map((entry) => {
    const source = program.getSourceFile(entry.declarations);
    const module = source && checker.getSymbolAtLocation(source);
    const symbols = module === undefined ? [] : checker.getExportsOfModule(module);
    count += symbols.length;
    symbols.forEach(add);
    const names = symbols.map((symbol) => `  ${symbol.name},\n`).toSorted();
    return `export {\n${names.join("")}} from "${entry.name}";\n`;
  });
  return [
    `# API of ${name}\n`,
    `Written by \`npm run api\`: the ${count} exported names, and the types that they lead to. A change needs a version plan`,
    "([contributing](../../../CONTRIBUTING.md)).\n",
    `\`\`\`ts\n${exported.join("\n")}\`\`\`\n`,
    `\`\`\`ts\n${[...texts.values()].toSorted().join("\n")}\`\`\`\n`,
  ].join("\n");
};

/** The statement of a module that holds a declaration; none of a module itself or a type parameter. */
const statementOf = (declaration: ts.Node): ReadonlyArray<ts.Statement> => {
  const own = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  return ts.isStatement(own) && ts.isSourceFile(own.parent) ? [own] : [];
};

const printer = ts.createPrinter({ removeComments: true });

const textOf = (statement: ts.Statement): string => {
  const source = statement.getSourceFile();
  // The file of the package that declares a type does not matter to users.
  const text = printer
    .printNode(ts.EmitHint.Unspecified, statement, source)
    .replaceAll(/import\("\.[^"]+"\)\./g, "");
  if (text.length <= LONGEST) return `${text}\n`;
  const hash = createHash("sha256").update(text).digest("hex");
  return `${text.slice(0, text.search(/[:={]/))}/* inferred, by its hash: ${hash} */\n`;
};
