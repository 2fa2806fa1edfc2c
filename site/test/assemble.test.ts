import { checkout } from "@durable-payments/tools/processes";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { assemble } from "../src/assemble.ts";

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

it("says which page the sidebar lacks", () => {
  const checkout = folder();
  mkdirSync(join(checkout, "docs"));
  writeFileSync(join(checkout, "docs/new.md"), "# New\n");
  const content = join(checkout, "content");
  expect(() => assemble(checkout, content)).toThrow("lists every page of docs/");
  expect(() => assemble(checkout, content)).toThrow("docs/new.md is not listed");
});
