import { globSync } from "node:fs";
import { checkout } from "@durable-payments/tools/processes";
import { expect, it } from "vitest";
import { fileWithGuard } from "../src/mutations/find-guard.ts";
import { mutations } from "../src/mutations/mutations.ts";

it.each(mutations)("finds the guard that $name takes out", ({ edits }) => {
  for (const edit of edits) expect(() => fileWithGuard(checkout, edit)).not.toThrow();
});

it.each(mutations)("names tests that exist, which $name turns red", ({ tests = [] }) => {
  const [project = "", ...names] = tests;
  const name = project.replace("--project=@durable-payments/", "");
  const files = globSync(`{packages,apps}/${name}/test/**/*.test.ts`, { cwd: checkout });
  expect(files.filter((file) => names.some((part) => file.includes(part)))).not.toEqual([]);
});
