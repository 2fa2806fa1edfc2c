import { createTreeWithEmptyWorkspace } from "@nx/devkit/testing";
import type { Tree } from "@nx/devkit";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import operation from "../nx/generators/operation.mjs";
import workflow from "../nx/generators/workflow.mjs";
import { checkout } from "../src/processes/apps.ts";
import { SOURCE_OPTIONS } from "./support/source-options.ts";

/** The sources of this checkout, in memory. */
const sources = (): Tree => {
  const tree = createTreeWithEmptyWorkspace();
  const files = globSync("packages/{api-core,protocol,simulator,workflows}/{src,test}/**/*.ts", {
    cwd: checkout,
  });
  for (const file of files) tree.write(file, readFileSync(join(checkout, file), "utf8"));
  return tree;
};

/** What the compiler says of the files that differ from those of this checkout. */
const faultsOf = (tree: Tree): ReadonlyArray<string> => {
  const changed = tree
    .listChanges()
    .filter(({ path }) => /^packages\/.*\.ts$/.test(path))
    .map(({ path, content }) => [join(checkout, path), content?.toString() ?? ""] as const)
    .filter(([path, content]) => ts.sys.readFile(path) !== content);
  const made = new Map(changed);
  const host = ts.createCompilerHost(SOURCE_OPTIONS);
  const { fileExists, readFile } = host;
  host.fileExists = (path) => made.has(path) || fileExists(path);
  host.readFile = (path) => made.get(path) ?? readFile(path);
  host.getSourceFile = (path, version) => {
    const text = host.readFile(path);
    return text === undefined ? undefined : ts.createSourceFile(path, text, version);
  };
  const program = ts.createProgram([...made.keys()], SOURCE_OPTIONS, host);
  return [...made.keys()].flatMap((path) =>
    program
      .getSemanticDiagnostics(program.getSourceFile(path))
      .map(({ messageText }) => `${path}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`),
  );
};

it("what the generators make compiles with the code as it is now", () => {
  const tree = sources();
  workflow(tree, { name: "pay-refund" });
  operation(tree, { name: "lockCard", resource: "cards", path: "/api/v1/cards/lock" });
  expect(tree.read("packages/workflows/src/definitions/index.ts", "utf8")).toContain("payRefund");
  expect(tree.read("packages/api-core/src/contract/cards.ts", "utf8")).toContain(
    '.annotate(Idempotency, "none")',
  );
  expect(faultsOf(tree)).toEqual([]);
});

it("a name that is taken is refused", () => {
  const tree = sources();
  const lock = { name: "lockCard", resource: "cards", path: "/api/v1/cards/lock" } as const;
  operation(tree, lock);
  expect(() => operation(tree, lock)).toThrow("choose another name");
});
