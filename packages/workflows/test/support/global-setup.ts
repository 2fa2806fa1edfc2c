import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

const script = fileURLToPath(new URL("write-bundle.ts", import.meta.url));

declare module "vitest" {
  interface ProvidedContext {
    /** File that holds the bundle of the workflows. */
    readonly workflowBundle: string;
  }
}

/**
 * Bundles the workflows once for all test files. In a separate process: Vitest takes a global setup's
 * packages as they are built, and a clone has built none.
 */
export default async ({ provide }: TestProject): Promise<() => void> => {
  const folder = mkdtempSync(join(tmpdir(), "test-workflows-"));
  const file = join(folder, "bundle.js");
  await promisify(execFile)(process.execPath, [
    "--conditions=@durable-payments/source",
    script,
    file,
  ]);
  provide("workflowBundle", file);
  return () => rmSync(folder, { recursive: true });
};
