// Run by Vitest once for the tests that start workers: each would bundle the workflows anew.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";

const build = fileURLToPath(new URL("../../../apps/worker/src/build.ts", import.meta.url));
const variable = "PAYMENTS_WORKFLOW_BUNDLE";

/** Builds the bundle as it is deployed, from the sources as they are, and has every worker take it. */
export default async (): Promise<(() => void) | undefined> => {
  // Another project of this run has built it.
  if (process.env[variable] !== undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "workflow-bundle-"));
  process.env[variable] = folder;
  await execa(process.execPath, ["--conditions=@durable-payments/source", build]);
  return () => rmSync(folder, { recursive: true });
};
