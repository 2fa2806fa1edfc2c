import { checkout } from "@durable-payments/tools/processes";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A block of code in a document, or the example of a docstring. */
export interface Block {
  /** File and line. */
  readonly place: string;
  readonly document: string;
  readonly language: string;
  readonly code: string;
  /** The file that the document shows by `<!-- example: PATH -->`. */
  readonly file?: string;
}

/** What users read: contributors' notes on bench, chaos and the like are left out. */
const DOCUMENTS = ["README.md", "docs/*.md", "{packages,apps}/*/README.md"];

const FENCED =
  /(?:<!-- example: (?<file>\S+) -->\n\n)?^(?<indent> *)```(?<language>\w*)\n(?<code>[^]*?)^ *```$/gm;

const textOf = (file: string): string => readFileSync(join(checkout, file), "utf8");

const filesOf = (patterns: ReadonlyArray<string>): ReadonlyArray<string> =>
  globSync([...patterns], { cwd: checkout }).toSorted();

const lineAt = (text: string, index: number): number => text.slice(0, index).split("\n").length;

const blocksOf = (document: string): ReadonlyArray<Block> => {
  const text = textOf(document);
  return [...text.matchAll(FENCED)].map(({ groups = {}, index }) => ({
    place: `${document}:${lineAt(text, index)}`,
    document,
    language: groups["language"] ?? "",
    code: (groups["code"] ?? "").replaceAll(new RegExp(`^${groups["indent"]}`, "gm"), ""),
    ...(groups["file"] !== undefined && { file: groups["file"] }),
  }));
};

/** Every block of code that a document shows. */
export const documentBlocks: ReadonlyArray<Block> = filesOf(DOCUMENTS).flatMap(blocksOf);

const DOCSTRING = /\/\*\*(?:(?!\*\/)[^])*?@example\n(?<example>(?:(?!\*\/|^ +\* @\w)[^])*)/gm;

/** The examples of all docstrings of the packages. */
export const docstringExamples: ReadonlyArray<Block> = filesOf(["packages/*/src/**/*.ts"]).flatMap(
  (document) => {
    const text = textOf(document);
    return [...text.matchAll(DOCSTRING)].map(({ groups = {}, index }) => ({
      place: `${document}:${lineAt(text, index)}`,
      document,
      language: "ts",
      code: (groups["example"] ?? "")
        .replaceAll(/^ *\* ?/gm, "")
        .replaceAll(/^```(?:ts)?$/gm, "")
        .trim(),
    }));
  },
);

const REGION = /^ *\/\/ #region example\n(?<code>[^]*?)^ *\/\/ #endregion$/gm;

/** What stands between `// #region example` and `// #endregion` in the tests beside this file, which run it. */
export const runRegions: ReadonlyArray<string> = filesOf(["site/test/examples/*.ts"]).flatMap(
  (file) => [...textOf(file).matchAll(REGION)].map(({ groups = {} }) => groups["code"] ?? ""),
);

/** Code without what depends on how far it is indented. */
export const withoutLayout = (code: string): string =>
  code.replaceAll(/\s+/g, "").replaceAll(/,(?=[)\]}])/g, "");

/** A file of JSON, or a line of one that has one on each line. */
export const isJson = ({ language }: Block): boolean => /^jsonl?$/.test(language);

/** The lines of a block of shell, comments taken away, continued lines joined. */
export const linesOf = ({ code }: Block): ReadonlyArray<string> =>
  code
    .replaceAll("\\\n", " ")
    .split("\n")
    .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");
