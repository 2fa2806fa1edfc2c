import { checkout } from "@durable-payments/tools/processes";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  type Block,
  docstringExamples,
  documentBlocks,
  isJson,
  linesOf,
  runRegions,
  withoutLayout,
} from "./support/blocks.ts";

const ofLanguage = (language: string): ReadonlyArray<Block> =>
  documentBlocks.filter((block) => block.language === language);

const places = (blocks: ReadonlyArray<Block>) =>
  blocks.map(({ code, place }) => `${place}\n${code}`);

it("shows TypeScript that compiles: whole files, or regions of the files beside this one", () => {
  const regions = new Set(runRegions.map(withoutLayout));
  const unknown = [...ofLanguage("ts"), ...docstringExamples].filter(
    ({ code, file }) => file === undefined && !regions.has(withoutLayout(code)),
  );
  expect(places(unknown)).toEqual([]);
});

it("shows every region that is marked as an example", () => {
  const shown = new Set(
    [...ofLanguage("ts"), ...docstringExamples].map(({ code }) => withoutLayout(code)),
  );
  expect(runRegions.filter((region) => !shown.has(withoutLayout(region)))).toEqual([]);
});

it("shows JSON that can be read", () => {
  const texts = documentBlocks
    .filter(isJson)
    .flatMap(({ code, language }) => (language === "jsonl" ? code.trim().split("\n") : [code]));
  expect(() => texts.map((text): unknown => JSON.parse(text))).not.toThrow();
});

it("sets variables that exist", () => {
  const known = readFileSync(join(checkout, ".env.example"), "utf8");
  const set = ofLanguage("sh")
    .flatMap(linesOf)
    .flatMap((line) => [...line.matchAll(/\b(PAYMENTS_\w+)=/g)]);
  expect(set.flatMap(([, name = ""]) => (known.includes(`${name}=`) ? [] : [name]))).toEqual([]);
});

it("names npm scripts and files that exist", () => {
  const { scripts } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const created = JSON.parse(
    readFileSync(join(checkout, "packages/create/template/package.json"), "utf8"),
  ) as { readonly scripts: Readonly<Record<string, string>> };
  const lines = ofLanguage("sh").flatMap(linesOf);
  const called = lines.flatMap((line) => /^npm run ([\w:-]+)/.exec(line)?.[1] ?? []);
  expect(called.length).toBeGreaterThan(5);
  expect(
    called.filter((name) => !Object.hasOwn(scripts, name) && !Object.hasOwn(created.scripts, name)),
  ).toEqual([]);
  const named = lines.flatMap((line) => line.match(/\bexamples\/\S+/g) ?? []);
  expect(named.filter((file) => !existsSync(join(checkout, file)))).toEqual([]);
});

it("has no link that leads to a missing file", () => {
  const documents = [...new Set(documentBlocks.map(({ document }) => document))];
  const missing = documents.flatMap((document) =>
    [...readFileSync(join(checkout, document), "utf8").matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)]
      .map(([, path = ""]) => path)
      .filter((path) => !existsSync(join(checkout, document, "..", path)))
      .map((path) => `${document}: ${path}`),
  );
  expect(missing).toEqual([]);
});
