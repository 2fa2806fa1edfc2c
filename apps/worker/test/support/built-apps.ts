// Run by Vitest once for the tests of this app: otherwise each worker would load the sources and bundle the workflows.
// Vitest takes a global setup's packages as they are built, and a clone has built none: so this imports none that is built.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type BundledApp, buildApp } from "@durable-payments/tools/build";

const build = fileURLToPath(new URL("../../src/build.ts", import.meta.url));

/** Builds starter, worker and the workflow bundle as they are deployed, from the current sources. */
export default async (): Promise<() => void> => {
  // Within the checkout, where the built files find the installed packages.
  const parent = fileURLToPath(new URL("../../../../.local", import.meta.url));
  mkdirSync(parent, { recursive: true });
  const apps = mkdtempSync(join(parent, "test-apps-"));
  process.env["DURABLE_PAYMENTS_BUILT_APPS"] = apps;
  const bundles = join(apps, "bundles");
  // As the folders of the apps are: the command line finds the worker from its own.
  const folderOf = (app: BundledApp) => join(apps, app, "dist/app");
  const buildInto = (app: BundledApp) => buildApp(app, pathToFileURL(`${folderOf(app)}/`));
  await Promise.all([
    buildInto("starter"),
    buildInto("worker"),
    promisify(execFile)(process.execPath, [
      "--conditions=@durable-payments/source",
      build,
      bundles,
    ]),
  ]);
  // A worker reads the bundle in its own folder.
  cpSync(bundles, folderOf("worker"), { recursive: true });
  return () => rmSync(apps, { recursive: true });
};
