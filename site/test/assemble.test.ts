import { checkout } from "@durable-payments/tools/processes";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { assemble } from "../src/assemble.ts";
import { PARTS } from "../src/pages.ts";

const folder = () => {
  const made = mkdtempSync(join(tmpdir(), "site-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
};

it("has every page of docs/ and every package", () => {
  const content = join(folder(), "content");
  assemble(checkout, content);
  expect(readFileSync(join(content, "pay.md"), "utf8")).toContain("# How to pay");
  expect(readFileSync(join(content, "packages/workflows.md"), "utf8")).toContain(
    "# @durable-payments/workflows",
  );
});

it("has a sidebar that lists every page of docs/, and no other", () => {
  const listed = PARTS.flatMap(({ pages }) => pages.map((page) => `docs/${page}.md`));
  expect(listed.toSorted()).toEqual(globSync("docs/*.md", { cwd: checkout }).toSorted());
});

it("has a README that names every page", () => {
  const readme = readFileSync(join(checkout, "README.md"), "utf8");
  const pages = PARTS.flatMap((part) => part.pages);
  expect(pages.filter((page) => !readme.includes(`(docs/${page}.md`))).toEqual([]);
});
