// Run by Vitest once for the tests that start workers: otherwise each of them would load the sources and bundle the workflows.
// Vitest takes a global setup's packages as they are built, and a clone has built none: so this imports none.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { execa } from "execa";
import { type BundledApp, buildApp } from "../build-app.ts";

const build = fileURLToPath(new URL("../../../apps/worker/src/build.ts", import.meta.url));

/**
 * Builds starter, worker and the workflow bundle as they are deployed, from the current sources, for every test.
 */
export default async (): Promise<(() => void) | undefined> => {
  // Another project of this run has built them.
  if (process.env["DURABLE_PAYMENTS_BUILT_APPS"] !== undefined) return undefined;
  // Within the checkout, where the built files find the installed packages.
  const parent = fileURLToPath(new URL("../../../.local", import.meta.url));
  mkdirSync(parent, { recursive: true });
  const apps = mkdtempSync(join(parent, "test-apps-"));
  process.env["DURABLE_PAYMENTS_BUILT_APPS"] = apps;
  const bundles = join(apps, "bundles");
  const buildInto = (app: BundledApp) => buildApp(app, pathToFileURL(`${join(apps, app)}/`));
  await Promise.all([
    buildInto("starter"),
    buildInto("worker"),
    execa(process.execPath, ["--conditions=@durable-payments/source", build, bundles]),
  ]);
  // A worker reads the bundle in its own folder.
  cpSync(bundles, join(apps, "worker"), { recursive: true });
  return () => rmSync(apps, { recursive: true });
};
