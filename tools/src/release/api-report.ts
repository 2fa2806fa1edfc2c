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
  const surface = makeSurface(checker, folder);
  let count = 0;
  const exported = entries.map((entry) => {
    const source = program.getSourceFile(entry.declarations);
    const module = source && checker.getSymbolAtLocation(source);
    const symbols = module === undefined ? [] : checker.getExportsOfModule(module);
    count += symbols.length;
    for (const symbol of symbols) surface.add(symbol);
    const names = symbols.map((symbol) => `  ${symbol.name},\n`).toSorted(byCode);
    return `export {\n${names.join("")}} from "${entry.name}";\n`;
  });
  return [
    `# API of ${name}\n`,
    `Written by \`npm run api\`: the ${count} exported names, and the types that they lead to. A change needs a version plan`,
    "([contributing](../../../CONTRIBUTING.md)).\n",
    `\`\`\`ts\n${exported.join("\n")}\`\`\`\n`,
    `\`\`\`ts\n${[surface.imports(), ...surface.declarations()].join("\n")}\`\`\`\n`,
  ].join("\n");
};

/** The declarations of one package that are reached from what it exports. */
const makeSurface = (checker: ts.TypeChecker, folder: string) => {
  const texts = new Map<ts.Node, string>();
  const imported = new Set<string>();

  const isOwn = (node: ts.Node): boolean => {
    const { fileName } = node.getSourceFile();
    return fileName.startsWith(`${folder}/`) && !fileName.includes("/node_modules/");
  };

  const add = (symbol: ts.Symbol): void => {
    for (const declaration of aliased(checker, symbol).declarations ?? []) {
      const statement = topLevel(declaration);
      if (statement === undefined || !isOwn(statement) || texts.has(statement)) continue;
      texts.set(statement, "");
      texts.set(statement, textOf(statement));
      visit(statement);
    }
  };

  const visit = (node: ts.Node): void => {
    if (isPrivate(node)) return;
    if (ts.isIdentifier(node)) {
      const symbol = checker.getSymbolAtLocation(node);
      if (symbol !== undefined) {
        noteImport(symbol);
        add(symbol);
      }
    }
    ts.forEachChild(node, visit);
  };

  /** Declarations of another package appear as their imports only. */
  const noteImport = (symbol: ts.Symbol): void => {
    for (const declaration of symbol.declarations ?? []) {
      const from = importOf(declaration);
      if (from !== undefined && !from.startsWith(".")) {
        const name = declaration.getText().replace(/^type /, "");
        imported.add(`import { ${name} } from "${from}";\n`);
      }
    }
  };

  return {
    add,
    imports: () => [...imported].toSorted(byCode).join(""),
    declarations: () => [...texts.values()].toSorted(byCode),
  };
};

const aliased = (checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol =>
  (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);

/** The statement of a module that holds a declaration; none of a module itself or a type parameter. */
const topLevel = (declaration: ts.Node): ts.Statement | undefined => {
  const own = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  return ts.isStatement(own) && ts.isSourceFile(own.parent) ? own : undefined;
};

const importOf = (declaration: ts.Node): string | undefined => {
  if (!ts.isImportSpecifier(declaration) && !ts.isNamespaceImport(declaration)) return undefined;
  const { moduleSpecifier } = ts.findAncestor(declaration, ts.isImportDeclaration) ?? {};
  return moduleSpecifier !== undefined && ts.isStringLiteral(moduleSpecifier)
    ? moduleSpecifier.text
    : undefined;
};

const isPrivate = (node: ts.Node): boolean =>
  ts.isClassElement(node) && (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private) !== 0;

const printer = ts.createPrinter({ removeComments: true });

const textOf = (statement: ts.Statement): string => {
  const source = statement.getSourceFile();
  const { transformed } = ts.transform(statement, [asPublic(source)]);
  const text = printed(transformed[0] ?? statement, source);
  if (text.length <= LONGEST) return `${text}\n`;
  const hash = createHash("sha256").update(text).digest("hex");
  return `${text.slice(0, text.search(/[:={]/))}/* inferred, by its hash: ${hash} */\n`;
};

const printed = (node: ts.Node, source: ts.SourceFile): string =>
  printer.printNode(ts.EmitHint.Unspecified, node, source);

/**
 * Leave out private members, and in which file of the package a type stands. The compiler writes the members of an
 * inferred union in an order that varies from build to build: all are sorted.
 */
const asPublic =
  (source: ts.SourceFile): ts.TransformerFactory<ts.Statement> =>
  (context) => {
    const visit = (node: ts.Node): ts.Node | undefined => {
      if (isPrivate(node)) return undefined;
      const within = ts.visitEachChild(node, visit, context);
      if (ts.isUnionTypeNode(within)) return sortedUnion(within, source);
      if (!ts.isImportTypeNode(within) || !isRelative(within.argument)) return within;
      const { qualifier, isTypeOf, typeArguments } = within;
      if (qualifier === undefined) return within;
      return isTypeOf
        ? ts.factory.createTypeQueryNode(qualifier, typeArguments)
        : ts.factory.createTypeReferenceNode(qualifier, typeArguments);
    };
    return (statement) => ts.visitEachChild(statement, visit, context);
  };

const sortedUnion = ({ types }: ts.UnionTypeNode, source: ts.SourceFile): ts.UnionTypeNode => {
  const texts = new Map(types.map((type) => [type, printed(type, source)]));
  return ts.factory.createUnionTypeNode(
    types.toSorted((one, other) => byCode(texts.get(one) ?? "", texts.get(other) ?? "")),
  );
};

const isRelative = (argument: ts.TypeNode): boolean =>
  ts.isLiteralTypeNode(argument) &&
  ts.isStringLiteral(argument.literal) &&
  argument.literal.text.startsWith(".");

const byCode = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
