import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join } from "node:path";
import ts from "typescript";
import { checkout } from "../../src/processes/apps.ts";
import { SOURCE_OPTIONS } from "./source-options.ts";

/** A place in a source, its lines as an editor counts them. */
export interface Place {
  readonly file: string;
  readonly line: number;
}

/** What an editor shows of a name. */
export interface Shown {
  readonly signature: string;
  readonly documentation: string;
  readonly example: string | undefined;
  readonly definition: Place | undefined;
}

/** A field of a value, and of the values in it. */
export interface Field {
  /** Dotted: `item_list.payout_id`. */
  readonly path: string;
  readonly documentation: string;
  readonly definition: Place | undefined;
}

/** What one editor has read, the next one does not read again. */
const registry = ts.createDocumentRegistry();

/**
 * Where a place in a declaration file leads an editor: by its map to the source, where that has this very place.
 * Of any other an editor takes the next that is mapped.
 */
const sourceOf = (file: string, text: string, start: number): Place => {
  const before = text.slice(0, start).split("\n");
  const [line, column] = [before.length, before.at(-1)?.length ?? 0];
  if (!file.endsWith(".d.ts") || !existsSync(`${file}.map`)) return { file, line };
  const payload = JSON.parse(readFileSync(`${file}.map`, "utf8")) as ConstructorParameters<
    typeof SourceMap
  >[0];
  const found = new SourceMap(payload).findEntry(line - 1, column);
  const isExact =
    "originalSource" in found &&
    found.generatedLine === line - 1 &&
    found.generatedColumn === column;
  return isExact
    ? { file: join(file, "..", found.originalSource), line: found.originalLine + 1 }
    : { file, line };
};

/**
 * Open a source in an editor, as TypeScript serves it: what is shown of a name, what is offered, where a
 * definition is.
 *
 * @param text it imports by absolute path, or by the name of a package; `/*name*\/` marks a place
 */
export const openInEditor = (text: string) => {
  const file = join(checkout, "tools/test/opened-in-editor.ts");
  const read = (path: string) => (path === file ? text : ts.sys.readFile(path));
  const service = ts.createLanguageService(
    {
      ...ts.sys,
      useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
      readFile: read,
      fileExists: (path) => path === file || ts.sys.fileExists(path),
      getScriptFileNames: () => [file],
      getScriptVersion: (path) => (path === file ? text : ""),
      getScriptSnapshot: (path) => {
        const content = read(path);
        return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
      },
      getCurrentDirectory: () => checkout,
      getCompilationSettings: () => SOURCE_OPTIONS,
      getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
    },
    registry,
  );
  const program = service.getProgram();
  const checker = program?.getTypeChecker();
  const source = program?.getSourceFile(file);
  if (checker === undefined || source === undefined) throw new Error("TypeScript opened nothing");

  const textOf = (parts: ReadonlyArray<ts.SymbolDisplayPart> | undefined) =>
    ts.displayPartsToString([...(parts ?? [])]);
  const placeOf = (path: string, start: number) => sourceOf(path, read(path) ?? "", start);

  /** The place of a mark: the last character of the name before it. */
  const before = (mark: string): number => {
    const at = text.indexOf(`/*${mark}*/`);
    if (at < 0) throw new Error(`Nothing is marked ${mark}`);
    return at - 1;
  };

  const exportsOf = (module: ts.Node): ReadonlyArray<ts.Symbol> => {
    const symbol = checker.getSymbolAtLocation(module);
    return symbol === undefined ? [] : checker.getExportsOfModule(symbol);
  };

  const isForeign = (symbol: ts.Symbol) =>
    symbol.declarations?.some((declared) =>
      declared.getSourceFile().fileName.includes("/node_modules/"),
    );

  const placeOfSymbol = (symbol: ts.Symbol): Place | undefined => {
    const [declaration] = symbol.declarations ?? [];
    if (declaration === undefined) return undefined;
    const name = ts.getNameOfDeclaration(declaration) ?? declaration;
    return placeOf(declaration.getSourceFile().fileName, name.getStart());
  };

  const fieldsOfType = (type: ts.Type, path: string): ReadonlyArray<Field> => {
    const value = checker.getNonNullableType(type);
    const item = checker.isArrayLikeType(value)
      ? checker.getIndexTypeOfType(value, ts.IndexKind.Number)
      : undefined;
    if (item !== undefined) return fieldsOfType(item, path);
    if ((value.flags & ts.TypeFlags.Object) === 0) return [];
    return value.getProperties().flatMap((field) => {
      const own = path === "" ? field.name : `${path}.${field.name}`;
      return [
        {
          path: own,
          documentation: textOf(field.getDocumentationComment(checker)),
          definition: placeOfSymbol(field),
        },
        ...fieldsOfType(checker.getTypeOfSymbol(field), own),
      ];
    });
  };

  return {
    /** What is wrong with the source. */
    problems: () =>
      [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)].map(
        ({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"),
      ),

    /** What hovering the name before a mark shows. */
    hover: (mark: string): Shown => {
      const at = before(mark);
      const info = service.getQuickInfoAtPosition(file, at);
      const [defined] = service.getDefinitionAtPosition(file, at) ?? [];
      return {
        signature: textOf(info?.displayParts),
        documentation: textOf(info?.documentation),
        example: textOf(info?.tags?.find(({ name }) => name === "example")?.text) || undefined,
        definition: defined && placeOf(defined.fileName, defined.textSpan.start),
      };
    },

    /** What is offered at a mark, with its documentation. */
    completions: (mark: string): ReadonlyMap<string, string> => {
      const at = before(mark) + 1;
      const offered = service.getCompletionsAtPosition(file, at, undefined)?.entries ?? [];
      const isOwn = ({ kind }: ts.CompletionEntry) =>
        kind === ts.ScriptElementKind.memberVariableElement;
      return new Map(
        offered.filter(isOwn).map(({ name }) => {
          const details = service.getCompletionEntryDetails(
            file,
            at,
            name,
            undefined,
            undefined,
            undefined,
            undefined,
          );
          return [name, textOf(details?.documentation)];
        }),
      );
    },

    /**
     * What the modules that are imported export of their own, and the members of those that are interfaces, with
     * their documentation.
     */
    imported: (): ReadonlyMap<string, string> =>
      new Map(
        source.statements.filter(ts.isImportDeclaration).flatMap(({ moduleSpecifier }) =>
          exportsOf(moduleSpecifier).flatMap((exported) => {
            const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
            const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
            const isInterface = (symbol.flags & ts.SymbolFlags.Interface) !== 0;
            const members = isInterface
              ? checker.getDeclaredTypeOfSymbol(symbol).getProperties()
              : [];
            const path = `${moduleSpecifier.getText()} ${exported.name}`;
            return [
              [path, symbol] as const,
              ...members.map((member) => [`${path}.${member.name}`, member] as const),
            ]
              .filter(([, named]) => !isForeign(named))
              .map(
                ([name, named]) => [name, textOf(named.getDocumentationComment(checker))] as const,
              );
          }),
        ),
      ),

    /** The fields of what an exported constant holds, or promises, and those of its fields. */
    fields: (name: string): ReadonlyArray<Field> => {
      const symbol = exportsOf(source).find((exported) => exported.name === name);
      if (symbol === undefined) throw new Error(`Nothing is exported as ${name}`);
      const type = checker.getTypeOfSymbol(symbol);
      return fieldsOfType(checker.getAwaitedType(type) ?? type, "");
    },
  };
};
