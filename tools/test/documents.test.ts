import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkout } from "../src/processes.ts";

const textOf = (document: string): string => readFileSync(join(checkout, document), "utf8");

it("the README is read in one go: 120 lines", () => {
  expect(textOf("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(120);
});

it("what SECURITY.md names is there", () => {
  const named = [...textOf("SECURITY.md").matchAll(/\]\((?!https:)([^)#]+)/g)];
  expect(named.length).toBeGreaterThan(0);
  const paths = named.map(([, path = ""]) => path);
  expect(paths.filter((path) => !existsSync(join(checkout, path)))).toEqual([]);
});

it("docs/settings.md has every setting of .env.example", () => {
  const settings = [...textOf(".env.example").matchAll(/^(?:# )?(PAYMENTS_\w+)=/gm)].map(
    ([, name = ""]) => name,
  );
  expect(settings.length).toBeGreaterThan(10);
  const page = textOf("docs/settings.md");
  expect(settings.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
