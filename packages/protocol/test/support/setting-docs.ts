import { fileURLToPath } from "node:url";
import ts from "typescript";
import { SettingsSchema } from "../../src/settings-schema.ts";

const { codecServer, hints, notify } = SettingsSchema.fields;

/** Names of the settings within a group, by its own name; empty for those of no group. */
export const settingNames: Readonly<Record<string, ReadonlyArray<string>>> = {
  "": Object.keys(SettingsSchema.fields),
  notify: Object.keys(notify.schema.fields),
  hints: Object.keys(hints.schema.fields),
  codecServer: Object.keys(codecServer.schema.fields),
  "codecServer.tokens": Object.keys(codecServer.schema.fields.tokens.schema.fields),
};

/** What the docstring of a setting says. */
export interface SettingDocs {
  /** Its first paragraph. */
  readonly description: string;
  /** Its default, in words. */
  readonly otherwise: string | undefined;
}

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.NodeNext,
  customConditions: ["@durable-payments/source"],
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  skipLibCheck: true,
};

/** Reads the docstrings of all settings, by their names, such as `notify.url`. */
export const readSettingDocs = (): ReadonlyMap<string, SettingDocs> => {
  const file = fileURLToPath(new URL("../../src/settings.ts", import.meta.url));
  const program = ts.createProgram([file], OPTIONS);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  const settings =
    module && checker.getExportsOfModule(module).find(({ name }) => name === "Settings");
  if (settings === undefined) throw new Error(`${file} exports no Settings`);

  const docsOf = (symbol: ts.Symbol): SettingDocs => {
    const text = ts.displayPartsToString(symbol.getDocumentationComment(checker));
    const tag = symbol.getJsDocTags(checker).find(({ name }) => name === "default");
    return {
      description: (text.split("\n\n", 1)[0] ?? "").replaceAll("\n", " "),
      otherwise: tag && ts.displayPartsToString(tag.text),
    };
  };

  const read = (type: ts.Type, prefix = ""): ReadonlyArray<readonly [string, SettingDocs]> =>
    type.getProperties().flatMap((symbol) => {
      const name = `${prefix}${symbol.name}`;
      const value = checker.getNonNullableType(checker.getTypeOfSymbol(symbol));
      const isGroup = settingNames[name] !== undefined;
      return [[name, docsOf(symbol)], ...(isGroup ? read(value, `${name}.`) : [])];
    });
  return new Map(read(checker.getDeclaredTypeOfSymbol(settings)));
};
