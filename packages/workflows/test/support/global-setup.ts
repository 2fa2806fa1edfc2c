import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { bundleWorkflows } from "./bundle.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** File that holds the bundle of the workflows. */
    readonly workflowBundle: string;
  }
}

/** Bundles the workflows once for all test files. */
export default async ({ provide }: TestProject): Promise<() => void> => {
  const { code } = await bundleWorkflows();
  const folder = mkdtempSync(join(tmpdir(), "test-workflows-"));
  const file = join(folder, "bundle.js");
  writeFileSync(file, code);
  provide("workflowBundle", file);
  return () => rmSync(folder, { recursive: true });
};
