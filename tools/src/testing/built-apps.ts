// Run by Vitest once for the tests that start workers: each would load the sources, and bundle the
// workflows, anew.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { execa } from "execa";
import { type BundledApp, buildApp } from "../build-app.ts";
import { checkout } from "../processes/apps.ts";
import { builtAppsVariable } from "./tested-app.ts";

const build = fileURLToPath(new URL("../../../apps/worker/src/build.ts", import.meta.url));

/**
 * Builds starter, worker and the workflow bundle as they are deployed, from the sources as they are, and
 * has every test take them.
 */
export default async (): Promise<(() => void) | undefined> => {
  // Another project of this run has built them.
  if (process.env[builtAppsVariable] !== undefined) return undefined;
  const parent = join(checkout, ".local");
  mkdirSync(parent, { recursive: true });
  // Within the checkout, where the built files find what is installed.
  const apps = mkdtempSync(join(parent, "test-apps-"));
  process.env[builtAppsVariable] = apps;
  const bundles = join(apps, "bundles");
  const buildInto = (app: BundledApp) => buildApp(app, pathToFileURL(`${join(apps, app)}/`));
  await Promise.all([
    buildInto("starter"),
    buildInto("worker"),
    execa(process.execPath, ["--conditions=@durable-payments/source", build, bundles]),
  ]);
  // The worker takes a bundle beside it.
  cpSync(bundles, join(apps, "worker"), { recursive: true });
  return () => rmSync(apps, { recursive: true });
};
