import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { failureConverterPath } from "@durable-payments/codec";
import { Runtime, type WorkerOptions, type WorkflowBundle } from "@temporalio/worker";
import { buildBundle } from "./build-bundle.ts";
import { currentFingerprint, definitionsPath, type Fingerprint } from "./fingerprint.ts";

/** Where a bundle is kept, and what it was made of. */
export interface BundleFiles {
  readonly code: string;
  readonly manifest: string;
  /** Path of the converter by which its workflows encode what they fail with; left out where they do not. */
  readonly failureConverterPath?: string;
  /** Whether a stale bundle is replaced by one of the sources, as where there is none. */
  readonly rebuilds?: boolean;
}

/** A file of this app, wherever this code itself was built into. */
const fileOf = (path: string): string =>
  fileURLToPath(new URL(path, import.meta.resolve("@durable-payments/worker/package.json")));

const givenFolder = process.env["PAYMENTS_WORKFLOW_BUNDLE"];
const bundleFolder = givenFolder || fileOf("dist");

const named = (name: string): BundleFiles => ({
  code: join(bundleFolder, `${name}.js`),
  manifest: join(bundleFolder, `${name}.json`),
  // A bundle that was named is wanted as it is; without sources, nothing newer can be made.
  rebuilds: !givenFolder && definitionsPath.endsWith(".ts"),
});

/** Where `npm run build` puts the bundle, and where a worker looks for one. */
export const prebuilt: BundleFiles = named("workflow-bundle");

/** The same for workers that encrypt. */
export const prebuiltEncrypted: BundleFiles = {
  ...named("workflow-bundle-encrypted"),
  failureConverterPath,
};

/** A bundle that was built from other sources, or with another SDK, than this worker has, or was changed since. */
export class StaleBundle extends Error {
  override readonly name = "StaleBundle";
}

/** What stands beside a bundle. */
interface Manifest extends Fingerprint {
  /** SHA-256 of the bundle. */
  readonly code: string;
}

const sha256Of = (code: string): string => createHash("sha256").update(code).digest("hex");

const readManifest = (file: string): Partial<Manifest> => {
  try {
    const manifest: unknown = JSON.parse(readFileSync(file, "utf8"));
    // Every field is compared before it is believed.
    return typeof manifest === "object" && manifest !== null ? manifest : {};
  } catch {
    return {};
  }
};

const difference = (built: Partial<Manifest>, now: Fingerprint): string | undefined => {
  if (built.code === undefined) return "without a record of what it holds";
  if (built.sdk !== now.sdk)
    return `with SDK ${built.sdk ?? "unknown"}, this worker has ${now.sdk}`;
  return built.sources === now.sources ? undefined : "from other workflow sources";
};

/**
 * The bundle that `npm run build` made; or one made now, where there is none, or a stale one in a checkout.
 *
 * @throws StaleBundle rather than run workflows that are not those of the sources, or not as they were built.
 */
export const workflowBundle = async (files: BundleFiles = prebuilt): Promise<WorkflowBundle> => {
  const { failureConverterPath: path } = files;
  if (!existsSync(files.code)) {
    return buildBundle({ production: false, failureConverterPath: path });
  }
  const manifest = readManifest(files.manifest);
  const differs = difference(manifest, currentFingerprint());
  if (differs === undefined) {
    const code = readFileSync(files.code, "utf8");
    if (sha256Of(code) === manifest.code) return { code };
    throw new StaleBundle(
      `The workflow bundle ${files.code} is not as it was built: its SHA-256 differs. See who has changed it, and run "npm run build" again.`,
    );
  }
  const stale = `The workflow bundle ${files.code} was built ${differs}.`;
  if (!files.rebuilds) {
    throw new StaleBundle(
      `${stale} Run "npm run build" again and start the worker by "npm run worker", or remove that file.`,
    );
  }
  Runtime.instance().logger.warn(
    `${stale} The workflows are bundled from their sources now: some seconds at each start, until you run "npm run build".`,
  );
  return buildBundle({ production: false, failureConverterPath: path });
};

/**
 * The bundle for a data converter.
 *
 * @returns undefined where it brings a failure converter of its own, with which nothing was built.
 * @throws StaleBundle
 */
export const bundleFor = async (
  dataConverter: WorkerOptions["dataConverter"],
): Promise<WorkflowBundle | undefined> => {
  const path = dataConverter?.failureConverterPath;
  if (path === undefined) return workflowBundle();
  return path === failureConverterPath ? workflowBundle(prebuiltEncrypted) : undefined;
};

/** Builds the bundle for production and keeps it with its fingerprint. */
export const writeBundle = async (files: BundleFiles = prebuilt): Promise<void> => {
  const fingerprint = currentFingerprint();
  const { code } = await buildBundle({
    production: true,
    failureConverterPath: files.failureConverterPath,
  });
  mkdirSync(dirname(files.code), { recursive: true });
  // Without its manifest a bundle is refused: a build that dies in between leaves none in use.
  rmSync(files.manifest, { force: true });
  writeFileSync(files.code, code);
  const manifest: Manifest = { ...fingerprint, code: sha256Of(code) };
  writeFileSync(files.manifest, `${JSON.stringify(manifest, null, 2)}\n`);
};
